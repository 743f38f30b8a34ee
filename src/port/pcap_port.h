// A port that writes all that passes into a pcap file, for Wireshark and `mrc dump`. Datagrams get IP and UDP
// headers as they have on the wire (the UDP checksum is left out); frames are written as they are.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "port/tap_port.h"

namespace mrc::port {

struct PcapOptions {
  std::string path;
  std::uint16_t udp_port = 4791;
  std::uint32_t snap = 65535;  // bytes kept of each packet
};

class PcapPort final : public TapPort {
 public:
  static Result<std::unique_ptr<PcapPort>> open(std::unique_ptr<Port> inner, const PcapOptions& options);
  /// Also writes out what is buffered, so that little is lost when the process is killed.
  void service() override;

 protected:
  void see(const Sighting& packet) override;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  PcapPort(std::unique_ptr<Port> inner, const PcapOptions& options, std::FILE* file);
  std::size_t write_head(const Sighting& packet, std::uint8_t* out) const;

  PcapOptions options_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool frames_;
  bool unflushed_ = false;
};

}  // namespace mrc::port
