// The sending sockets of a UDP port: one per source port, because the source port is the EV and a socket has
// only one. Bounded and opened on first use; beyond the bound the socket opened longest ago makes room.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::port {

class SendSockets {
 public:
  struct Options {
    Address local;
    std::string interface;  // not empty: leave by this interface only
    bool flow_label = false;
    std::uint32_t limit = 1024;
  };
  explicit SendSockets(Options options) : options_(std::move(options)) { order_.reserve(options_.limit); }

  /// The socket of this source port, or minus the errno for which it can't be had.
  int get(std::uint16_t source_port) {
    const Page* page = pages_[source_port >> 8].get();
    const int fd = page != nullptr ? (*page)[source_port & 0xFF].get() : -1;
    return fd >= 0 ? fd : open(source_port);
  }
  std::size_t size() const { return order_.size(); }

 private:
  using Page = std::array<Fd, 256>;

  int open(std::uint16_t source_port);
  void make_room();

  Options options_;
  std::array<std::unique_ptr<Page>, 256> pages_;
  std::vector<std::uint16_t> order_;  // source ports in the order of opening, as a ring once full
  std::size_t oldest_ = 0;
};

}  // namespace mrc::port
