// An AF_XDP socket with its memory and its four rings, bound to one queue of one interface in copy mode.
#pragma once

#include <memory>

#include "port/xdp_ring.h"

namespace mrc::port {

/// The memory that we share with the kernel: places for frames, each of some chunks. The kernel writes at the
/// start of a place that it got and never beyond a chunk; what follows is ours, for putting a long frame
/// together.
struct XdpLayout {
  static constexpr std::uint32_t kChunk = 4096;
  static constexpr std::uint32_t kHeadroom =
      256;  // XDP_PACKET_HEADROOM, which the kernel leaves free in each chunk

  std::uint32_t rx_places = 1024;  // powers of two
  std::uint32_t tx_places = 512;
  std::uint32_t chunks_per_place = 2;

  static XdpLayout for_frames_of(std::uint32_t bytes);
  std::uint64_t place_bytes() const { return std::uint64_t{chunks_per_place} * kChunk; }
  std::uint64_t total() const { return (rx_places + tx_places) * place_bytes(); }
  std::uint64_t tx_start() const { return rx_places * place_bytes(); }
  std::uint32_t ring_of_tx() const;
};

class XdpSocket {
 public:
  static Result<std::unique_ptr<XdpSocket>> open(std::uint32_t interface, std::uint32_t queue,
                                                 const XdpLayout& layout);
  ~XdpSocket();
  XdpSocket(const XdpSocket&) = delete;

  int fd() const { return socket_.get(); }
  std::byte* memory() const { return memory_; }
  const XdpLayout& layout() const { return layout_; }
  bool long_frames() const { return long_frames_; }
  /// Makes the kernel look at the tx ring.
  int kick() const;
  std::uint64_t dropped() const;

  XdpRing<std::uint64_t> fill, completion;
  XdpRing<xdp_desc> rx, tx;

 private:
  explicit XdpSocket(const XdpLayout& layout) : layout_(layout) {}
  Status share_memory();
  Status make_rings();
  Status bind(std::uint32_t interface, std::uint32_t queue);
  bool try_bind(std::uint32_t interface, std::uint32_t queue);

  XdpLayout layout_;
  std::byte* memory_ = nullptr;
  Fd socket_;
  bool long_frames_ = true;
};

}  // namespace mrc::port
