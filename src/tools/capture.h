// Reading and writing capture files, pcap and pcapng, through libpcap.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "tools/link_layer.h"

struct pcap;
struct pcap_dumper;

namespace mrc::tools {

/// One frame of a capture. `bytes` is what was kept of it and lives until the next read.
struct CapturedFrame {
  Time time;  // since the epoch
  Bytes bytes;
  std::uint32_t original_length;  // on the wire; more than bytes.size() when the capture cut it
  std::uint64_t number;           // from 1, as Wireshark counts
};

class CaptureReader {
 public:
  /// "-" reads standard input.
  static Result<CaptureReader> open(const std::string& path);

  enum class Next { frame, end, broken };
  /// `broken`: the file ends in the middle of a record or is damaged; error() says how. What came before
  /// stands.
  Next read(CapturedFrame& frame);

  LinkType link() const { return link_; }
  std::string error() const;

 private:
  struct Close {
    void operator()(pcap* p) const;
  };
  CaptureReader(std::unique_ptr<pcap, Close> p, LinkType link) : pcap_(std::move(p)), link_(link) {}

  std::unique_ptr<pcap, Close> pcap_;
  LinkType link_;
  std::uint64_t number_ = 0;
};

/// Writes a pcap file with nanosecond times.
class CaptureWriter {
 public:
  static Result<CaptureWriter> create(const std::string& path, LinkType link);

  /// `original_length` 0 means that nothing was cut.
  void write(Time time, Bytes frame, std::uint32_t original_length = 0);
  /// Flushes; an error when the disk refused.
  Status finish();

 private:
  struct Close {
    void operator()(pcap* p) const;
    void operator()(pcap_dumper* d) const;
  };
  CaptureWriter() = default;

  std::unique_ptr<pcap, Close> pcap_;
  std::unique_ptr<pcap_dumper, Close> dumper_;
};

}  // namespace mrc::tools
