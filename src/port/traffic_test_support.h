// What the tests of ports share: trains made of plain bytes, packets copied out as they arrive, waits that
// end.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "port/port.h"
#include "port/testing.h"

namespace mrc::port::testing {

/// A packet as it arrived, kept beyond the next rx().
struct Arrival {
  std::string bytes;
  Address from, to;
  std::uint16_t source_port = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t tos = 0;
  std::int64_t arrival_ns = 0;
};

inline Arrival keep(const RxPacket& p) {
  return {std::string(reinterpret_cast<const char*>(p.data), p.size),
          p.from != nullptr ? *p.from : Address{},
          p.to != nullptr ? *p.to : Address{},
          p.source_port,
          p.flow_label,
          p.tos,
          p.arrival_ns};
}

/// Sleeps until the port has something to say, a tenth of a second at most.
inline void wait(const Port& port) {
  pollfd ready[] = {{port.wait_fd(), POLLIN, 0}, {port.event_fd(), POLLIN, 0}};
  ::poll(ready, 2, 100);
}

/// Waits (on wait_fd, as a caller of the port should) until `n` packets are in, or two seconds have passed.
inline std::vector<Arrival> receive(Port& port, std::size_t n, int timeout_ms = 2000) {
  std::vector<Arrival> got;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  RxPacket packets[16];
  while (got.size() < n && std::chrono::steady_clock::now() < end) {
    const std::size_t count = port.rx(packets);
    for (std::size_t i = 0; i < count; ++i) got.push_back(keep(packets[i]));
    if (count != 0) continue;
    wait(port);
    port.service();
  }
  return got;
}

/// A train that owns its bytes, cut in pieces of `piece` bytes.
struct TestTrain {
  std::string bytes;
  std::vector<iovec> pieces;
  Address to;
  TxTrain train;

  TestTrain(std::string all, std::uint32_t packet_bytes, const Address& peer, std::uint16_t source_port,
            std::size_t piece = 100)
      : bytes(std::move(all)), to(peer) {
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      pieces.push_back({bytes.data() + at, std::min(piece, bytes.size() - at)});
    train.pieces = pieces.data();
    train.piece_count = static_cast<std::uint32_t>(pieces.size());
    train.packet_bytes = packet_bytes;
    train.packets = static_cast<std::uint16_t>((bytes.size() + packet_bytes - 1) / packet_bytes);
    train.source_port = source_port;
    train.to = &to;
  }
  TestTrain(const TestTrain&) = delete;
};

inline std::string pattern(std::size_t size, unsigned seed = 1) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i * 131 + seed * 29) >> 3);
  return out;
}

}  // namespace mrc::port::testing
