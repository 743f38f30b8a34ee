// One ring that we share with the kernel: it or we produce, the other consumes. Indices count up for ever;
// the mask wraps them.
#pragma once

#include <linux/if_xdp.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "port/fd.h"

namespace mrc::port {

/// `T` is a chunk's address (fill, completion) or a descriptor (rx, tx).
template <class T>
class XdpRing {
 public:
  XdpRing() = default;
  XdpRing(const XdpRing&) = delete;
  ~XdpRing() {
    if (map_ != nullptr) ::munmap(map_, map_size_);
  }

  Status map(int fd, std::uint64_t page_offset, const xdp_ring_offset& offsets, std::uint32_t size) {
    map_size_ = offsets.desc + size * sizeof(T);
    void* at = ::mmap(nullptr, map_size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                      static_cast<off_t>(page_offset));
    if (at == MAP_FAILED) return errno_error("map an AF_XDP ring");
    map_ = static_cast<char*>(at);
    producer_ = reinterpret_cast<std::uint32_t*>(map_ + offsets.producer);
    consumer_ = reinterpret_cast<std::uint32_t*>(map_ + offsets.consumer);
    flags_ = reinterpret_cast<std::uint32_t*>(map_ + offsets.flags);
    entries_ = reinterpret_cast<T*>(map_ + offsets.desc);
    size_ = size;
    return Done{};
  }

  // Where the kernel consumes: write entries, then publish them together.
  std::uint32_t room() const { return size_ - (local_ - load(consumer_)); }
  T& next_free() { return entries_[local_++ & (size_ - 1)]; }
  void publish() { std::atomic_ref(*producer_).store(local_, std::memory_order_release); }
  bool drained() const { return load(consumer_) == local_; }
  bool needs_wakeup() const { return (load(flags_) & XDP_RING_NEED_WAKEUP) != 0; }

  // Where the kernel produces: read entries, then give them back together.
  std::uint32_t available() const { return load(producer_) - local_; }
  const T& next() { return entries_[local_++ & (size_ - 1)]; }
  const T& peek(std::uint32_t ahead) const { return entries_[(local_ + ahead) & (size_ - 1)]; }
  void release() { std::atomic_ref(*consumer_).store(local_, std::memory_order_release); }

 private:
  static std::uint32_t load(std::uint32_t* at) {
    return std::atomic_ref(*at).load(std::memory_order_acquire);
  }

  char* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::uint32_t* producer_ = nullptr;
  std::uint32_t* consumer_ = nullptr;
  std::uint32_t* flags_ = nullptr;
  T* entries_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t local_ = 0;  // our own index: ahead of what we have published or given back
};

}  // namespace mrc::port
