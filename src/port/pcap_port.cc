#include "port/pcap_port.h"

#include <algorithm>
#include <ctime>

#include "port/fd.h"
#include "port/frame_head.h"
#include "port/no_cancel.h"
#include "wire/ethernet.h"

namespace mrc::port {
namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xA1B23C4D;
constexpr std::uint32_t kLinkEthernet = 1;
constexpr std::uint32_t kLinkRawIp = 101;

struct FileHeader {
  std::uint32_t magic = kMagicNanoseconds;
  std::uint16_t major = 2, minor = 4;
  std::uint32_t zone = 0, accuracy = 0;
  std::uint32_t snap = 0;
  std::uint32_t link = 0;
};
static_assert(sizeof(FileHeader) == 24);

struct RecordHeader {
  std::uint32_t seconds, nanoseconds;
  std::uint32_t kept, size;
};
static_assert(sizeof(RecordHeader) == 16);

}  // namespace

Result<std::unique_ptr<PcapPort>> PcapPort::open(std::unique_ptr<Port> inner, const PcapOptions& options) {
  std::FILE* file = std::fopen(options.path.c_str(), "wbe");
  if (file == nullptr) return errno_error("write " + options.path);
  return std::unique_ptr<PcapPort>(new PcapPort(std::move(inner), options, file));
}

PcapPort::PcapPort(std::unique_ptr<Port> inner, const PcapOptions& options, std::FILE* file)
    : TapPort(std::move(inner)),
      options_(options),
      file_(file),
      frames_(capabilities().layer == Layer::frame) {
  const FileHeader header{.snap = options_.snap, .link = frames_ ? kLinkEthernet : kLinkRawIp};
  std::fwrite(&header, sizeof header, 1, file_.get());
  std::fflush(file_.get());
}

void PcapPort::service() {
  TapPort::service();
  if (unflushed_) std::fflush(file_.get());
  unflushed_ = false;
}

/// From the IP header on; nothing before frames.
std::size_t PcapPort::write_head(const Sighting& packet, std::uint8_t* out) const {
  if (frames_) return 0;
  const TxTrain train{.packet_bytes = static_cast<std::uint32_t>(packet.size),
                      .source_port = packet.source_port,
                      .flow_label = packet.flow_label,
                      .tos = packet.tos,
                      .to = &packet.to,
                      .outer = packet.outer,
                      .outer_next = packet.outer_next};
  std::uint8_t head[kMaxFrameHead];
  emit_frame_head(train, {.from = packet.from, .udp_port = options_.udp_port}, head);
  const std::size_t size = frame_head_size(train) - wire::Ethernet::kSize;
  std::copy_n(head + wire::Ethernet::kSize, size, out);
  return size;
}

void PcapPort::see(const Sighting& packet) {
  const NoCancel whole;
  std::uint8_t head[kMaxFrameHead];
  const std::size_t head_size = write_head(packet, head);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::size_t size = head_size + packet.size;
  std::size_t left = std::min<std::size_t>(size, options_.snap);
  const RecordHeader record{static_cast<std::uint32_t>(now.tv_sec), static_cast<std::uint32_t>(now.tv_nsec),
                            static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(size)};
  std::fwrite(&record, sizeof record, 1, file_.get());
  const auto put = [&](const void* bytes, std::size_t n) {
    const std::size_t take = std::min(n, left);
    std::fwrite(bytes, 1, take, file_.get());
    left -= take;
  };
  put(head, head_size);
  for (const iovec& piece : packet.pieces) put(piece.iov_base, piece.iov_len);
  unflushed_ = true;
}

}  // namespace mrc::port
