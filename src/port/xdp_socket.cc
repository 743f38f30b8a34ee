#include "port/xdp_socket.h"

#include <sys/socket.h>

#include <bit>

#include "port/system_calls.h"

namespace mrc::port {
namespace {

constexpr std::uint16_t kUseMultiBuffer = 1 << 4;  // XDP_USE_SG

bool set_ring(int fd, int option, std::uint32_t entries) {
  return ::setsockopt(fd, SOL_XDP, option, &entries, sizeof entries) == 0;
}

}  // namespace

XdpLayout XdpLayout::for_frames_of(std::uint32_t bytes) {
  constexpr std::uint32_t kUsable = kChunk - kHeadroom;
  XdpLayout layout;
  layout.chunks_per_place = (bytes + kUsable - 1) / kUsable;
  return layout;
}

std::uint32_t XdpLayout::ring_of_tx() const { return std::bit_ceil(tx_places * chunks_per_place); }

Result<std::unique_ptr<XdpSocket>> XdpSocket::open(std::uint32_t interface, std::uint32_t queue,
                                                   const XdpLayout& layout) {
  std::unique_ptr<XdpSocket> socket(new XdpSocket(layout));
  socket->socket_ = Fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket->socket_) {
    Error error = errno_error("open an AF_XDP socket");
    if (error.code == EPERM) error.what += " (needs CAP_NET_RAW)";
    return error;
  }
  if (auto shared = socket->share_memory(); !shared) return shared.error();
  if (auto made = socket->make_rings(); !made) return made.error();
  if (auto bound = socket->bind(interface, queue); !bound) return bound.error();
  return socket;
}

XdpSocket::~XdpSocket() {
  socket_.reset();
  if (memory_ != nullptr) ::munmap(memory_, layout_.total());
}

Status XdpSocket::share_memory() {
  void* at = ::mmap(nullptr, layout_.total(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return errno_error("get memory for frames");
  memory_ = static_cast<std::byte*>(at);
  xdp_umem_reg region{};
  region.addr = reinterpret_cast<std::uint64_t>(memory_);
  region.len = layout_.total();
  region.chunk_size = XdpLayout::kChunk;
  if (::setsockopt(fd(), SOL_XDP, XDP_UMEM_REG, &region, sizeof region) < 0) {
    Error error = errno_error("share memory with AF_XDP");
    if (error.code == ENOBUFS) error.what += " (raise the limit of locked memory: ulimit -l)";
    return error;
  }
  return Done{};
}

Status XdpSocket::make_rings() {
  const std::uint32_t tx_ring = layout_.ring_of_tx();
  if (!set_ring(fd(), XDP_UMEM_FILL_RING, layout_.rx_places) ||
      !set_ring(fd(), XDP_UMEM_COMPLETION_RING, tx_ring) || !set_ring(fd(), XDP_RX_RING, layout_.rx_places) ||
      !set_ring(fd(), XDP_TX_RING, tx_ring))
    return errno_error("make AF_XDP rings");
  xdp_mmap_offsets offsets{};
  socklen_t size = sizeof offsets;
  if (::getsockopt(fd(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) < 0 || size != sizeof offsets)
    return errno_error("find AF_XDP rings");
  if (auto m = fill.map(fd(), XDP_UMEM_PGOFF_FILL_RING, offsets.fr, layout_.rx_places); !m) return m;
  if (auto m = completion.map(fd(), XDP_UMEM_PGOFF_COMPLETION_RING, offsets.cr, tx_ring); !m) return m;
  if (auto m = rx.map(fd(), XDP_PGOFF_RX_RING, offsets.rx, layout_.rx_places); !m) return m;
  if (auto m = tx.map(fd(), XDP_PGOFF_TX_RING, offsets.tx, tx_ring); !m) return m;
  for (std::uint32_t i = 0; i < layout_.rx_places; ++i) fill.next_free() = i * layout_.place_bytes();
  fill.publish();
  return Done{};
}

Status XdpSocket::bind(std::uint32_t interface, std::uint32_t queue) {
  // The kernel frees a queue some time after its socket was closed, and tells nobody.
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (try_bind(interface, queue)) return Done{};
    if (errno != EBUSY) break;
    ::usleep(5000);
  }
  return errno_error("bind an AF_XDP socket to queue " + std::to_string(queue) + " of interface " +
                     std::to_string(interface));
}

/// Kernels before 6.6 don't know frames of several chunks: then a frame must fit in one.
bool XdpSocket::try_bind(std::uint32_t interface, std::uint32_t queue) {
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = interface;
  address.sxdp_queue_id = queue;
  for (const bool long_frames : {true, false}) {
    long_frames_ = long_frames;
    const int flags = XDP_COPY | XDP_USE_NEED_WAKEUP | (long_frames ? kUseMultiBuffer : 0);
    address.sxdp_flags = static_cast<std::uint16_t>(flags);
    if (::bind(fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
    if (errno != EINVAL) return false;
  }
  return false;
}

int XdpSocket::kick() const { return system_calls::send(fd(), nullptr, 0, MSG_DONTWAIT) < 0 ? errno : 0; }

std::uint64_t XdpSocket::dropped() const {
  xdp_statistics s{};
  socklen_t size = sizeof s;
  if (::getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &s, &size) < 0) return 0;
  return s.rx_dropped + s.rx_ring_full + s.rx_fill_ring_empty_descs;
}

}  // namespace mrc::port
