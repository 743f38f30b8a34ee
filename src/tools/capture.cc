#include "tools/capture.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace mrc::tools {
namespace {

constexpr int kSnapLength = 262144;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

int dlt_of(LinkType link) {
  switch (link) {
    case LinkType::ethernet: return DLT_EN10MB;
    case LinkType::linux_cooked_v1: return DLT_LINUX_SLL;
    case LinkType::linux_cooked_v2: return DLT_LINUX_SLL2;
    case LinkType::raw_ip: return DLT_RAW;
    case LinkType::null_loopback: return DLT_NULL;
  }
  return DLT_EN10MB;
}

std::string unknown_link(const std::string& path, int dlt) {
  const char* name = pcap_datalink_val_to_name(dlt);
  return path + ": link type " + (name != nullptr ? name : std::to_string(dlt)) +
         " is not one of Ethernet, Linux cooked (v1, v2), raw IP, null";
}

}  // namespace

void CaptureReader::Close::operator()(pcap* p) const { pcap_close(p); }
void CaptureWriter::Close::operator()(pcap* p) const { pcap_close(p); }
void CaptureWriter::Close::operator()(pcap_dumper* d) const { pcap_dump_close(d); }

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  char why[PCAP_ERRBUF_SIZE] = "";
  std::unique_ptr<pcap, Close> p(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why));
  // libpcap names the file itself when it cannot be opened, but not when its content is wrong.
  const std::string text = why;
  if (!p) return Error{EINVAL, text.rfind(path, 0) == 0 ? text : path + ": " + text};
  const std::optional<LinkType> link = link_type_of(pcap_datalink(p.get()));
  if (!link) return Error{EINVAL, unknown_link(path, pcap_datalink(p.get()))};
  return CaptureReader(std::move(p), *link);
}

CaptureReader::Next CaptureReader::read(CapturedFrame& frame) {
  pcap_pkthdr* header = nullptr;
  const std::uint8_t* data = nullptr;
  const int got = pcap_next_ex(pcap_.get(), &header, &data);
  if (got == PCAP_ERROR_BREAK) return Next::end;
  if (got != 1) return Next::broken;
  // With nanosecond precision libpcap keeps nanoseconds in tv_usec.
  frame.time = Time(Duration(header->ts.tv_sec * kNsPerSecond + header->ts.tv_usec));
  frame.bytes = Bytes(data, header->caplen);
  frame.original_length = header->len;
  frame.number = ++number_;
  return Next::frame;
}

std::string CaptureReader::error() const { return pcap_geterr(pcap_.get()); }

Result<CaptureWriter> CaptureWriter::create(const std::string& path, LinkType link) {
  CaptureWriter writer;
  writer.pcap_.reset(
      pcap_open_dead_with_tstamp_precision(dlt_of(link), kSnapLength, PCAP_TSTAMP_PRECISION_NANO));
  if (!writer.pcap_) return Error{ENOMEM, path + ": out of memory"};
  writer.dumper_.reset(pcap_dump_open(writer.pcap_.get(), path.c_str()));
  if (!writer.dumper_) return Error{EIO, pcap_geterr(writer.pcap_.get())};
  return writer;
}

void CaptureWriter::write(Time time, Bytes frame, std::uint32_t original_length) {
  pcap_pkthdr header{};
  header.ts.tv_sec = time.time_since_epoch().count() / kNsPerSecond;
  header.ts.tv_usec = time.time_since_epoch().count() % kNsPerSecond;
  header.caplen = static_cast<bpf_u_int32>(frame.size());
  header.len = original_length != 0 ? original_length : header.caplen;
  pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header, frame.data());
}

Status CaptureWriter::finish() {
  // A write that failed earlier leaves nothing to flush.
  if (pcap_dump_flush(dumper_.get()) != 0 || std::ferror(pcap_dump_file(dumper_.get())) != 0)
    return Error{errno, "cannot write the capture"};
  return Done{};
}

}  // namespace mrc::tools
