#include "port/packet_port.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>

#include <algorithm>

#include "port/frame_filter.h"
#include "port/system_calls.h"
#include "port/udp_socket.h"

namespace mrc::port {
namespace {

constexpr int kIgnoreOutgoing = 23;                       // PACKET_IGNORE_OUTGOING
constexpr std::size_t kStride = 65536 + 128 + 1024 + 64;  // not a power of two: spreads over the cache's sets

/// struct virtio_net_hdr, whose header C++ can't read.
struct OffloadHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t header_length;
  std::uint16_t gso_size;
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};
static_assert(sizeof(OffloadHeader) == 10);
constexpr std::uint8_t kNeedsChecksum = 1;
constexpr std::uint8_t kUdpSegments = 5;  // VIRTIO_NET_HDR_GSO_UDP_L4
constexpr std::uint8_t kGsoEcn = 0x80;
constexpr std::size_t kMaxHeaders = 192;

bool set(int fd, int option, int value) {
  return ::setsockopt(fd, SOL_PACKET, option, &value, sizeof value) == 0;
}

bool bind_to(int fd, std::uint32_t interface) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(interface);
  return ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

/// The filter is there before the first frame is: a socket of protocol 0 hears nothing until it is bound.
Result<Fd> open_socket(const PacketPortOptions& options, std::uint32_t interface) {
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    Error error = errno_error("open a packet socket");
    if (error.code == EPERM) error.what += " (needs CAP_NET_RAW: run as root, or use UDP sockets)";
    return error;
  }
  if (options.udp_port != 0) {
    auto filter = udp_frame_filter(options.udp_port);
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
      return errno_error("filter a packet socket");
  }
  if (!set(fd.get(), PACKET_VNET_HDR, 1)) return errno_error("ask for offload headers (PACKET_VNET_HDR)");
  set(fd.get(), kIgnoreOutgoing, 1);
  if (options.bypass_queues) set(fd.get(), PACKET_QDISC_BYPASS, 1);
  size_receive_buffer(fd.get(), options.receive_buffer);
  if (!bind_to(fd.get(), interface)) return errno_error("bind a packet socket to " + options.interface);
  return fd;
}

}  // namespace

struct PacketPort::Storage {
  mmsghdr out[kMaxBurst];
  iovec out_pieces[kMaxBurst][kMaxPieces + 1];
  OffloadHeader out_offload[kMaxBurst];
  mmsghdr in[kMaxMessages];
  iovec in_pieces[kMaxMessages][2];
  OffloadHeader in_offload[kMaxMessages];
  std::unique_ptr<std::byte[]> frames{new std::byte[kStride * kMaxMessages]};
};

Result<std::unique_ptr<PacketPort>> PacketPort::open(const PacketPortOptions& options) {
  const auto interface = interface_named(options.interface);
  if (!interface) return interface.error();
  auto watch = LinkWatch::open(*interface);
  if (!watch) return watch.error();
  auto socket = open_socket(options, *interface);
  if (!socket) return socket.error();
  return std::unique_ptr<PacketPort>(new PacketPort(std::move(*socket), std::move(*watch)));
}

PacketPort::PacketPort(Fd socket, LinkWatch watch)
    : socket_(std::move(socket)),
      watch_(std::move(watch)),
      bound_to_(watch_.link().interface),
      storage_(new Storage()) {
  for (std::size_t i = 0; i < kMaxBurst; ++i) {
    storage_->out_pieces[i][0] = {&storage_->out_offload[i], sizeof(OffloadHeader)};
    storage_->out[i].msg_hdr = {};
    storage_->out[i].msg_hdr.msg_iov = storage_->out_pieces[i];
  }
  for (std::size_t i = 0; i < kMaxMessages; ++i) {
    storage_->in_pieces[i][0] = {&storage_->in_offload[i], sizeof(OffloadHeader)};
    storage_->in_pieces[i][1] = {storage_->frames.get() + i * kStride, kMaxFrame};
    storage_->in[i].msg_hdr = {};
    storage_->in[i].msg_hdr.msg_iov = storage_->in_pieces[i];
    storage_->in[i].msg_hdr.msg_iovlen = 2;
  }
}

PacketPort::~PacketPort() = default;

bool PacketPort::is_sound(const TxTrain& train) const {
  return train.packets == 1 && train.piece_count > 0 && train.piece_count <= kMaxPieces &&
         train.packet_bytes >= sizeof(ether_header) && train.packet_bytes <= kMaxFrame;
}

void PacketPort::fill(std::size_t i, const TxTrain& train) {
  OffloadHeader& offload = storage_->out_offload[i];
  offload = {};
  // How much of the frame the kernel keeps in one piece: its headers, which everybody on the way looks at.
  offload.header_length =
      static_cast<std::uint16_t>(std::min<std::size_t>(train.pieces[0].iov_len, kMaxHeaders));
  if (train.checksum_start != 0) {
    offload.flags = kNeedsChecksum;
    offload.checksum_start = train.checksum_start;
    offload.checksum_offset = train.checksum_offset;
  }
  std::copy_n(train.pieces, train.piece_count, storage_->out_pieces[i] + 1);
  storage_->out[i].msg_hdr.msg_iovlen = train.piece_count + 1;
}

std::size_t PacketPort::tx(std::span<TxTrain> trains) {
  blocked_ = false;
  std::size_t done = 0;
  while (done < trains.size() && !blocked_) {
    const auto rest = trains.subspan(done, std::min<std::size_t>(trains.size() - done, kMaxBurst));
    std::size_t n = 0;
    for (; n < rest.size() && is_sound(rest[n]); ++n) fill(n, rest[n]);
    if (n != 0)
      done += push(rest.first(n));
    else
      discard(trains[done++], EINVAL);
  }
  return done;
}

void PacketPort::discard(TxTrain& train, int error) {
  train.error = error;
  counters_.tx_discarded += train.packets;
}

std::size_t PacketPort::push(std::span<TxTrain> burst) {
  std::size_t done = 0;
  while (done < burst.size()) {
    const int sent = system_calls::sendmmsg(socket_.get(), &storage_->out[done],
                                            static_cast<unsigned>(burst.size() - done), MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) {
      blocked_ = true;
      return done;
    }
    if (sent < 0 && errno != EINTR) discard(burst[done++], errno);
    for (int i = 0; i < sent; ++i, ++done) {
      burst[done].error = 0;
      ++counters_.tx_packets;
      counters_.tx_bytes += burst[done].packet_bytes;
    }
  }
  return done;
}

std::size_t PacketPort::rx(std::span<RxPacket> out) {
  const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), kMaxMessages));
  const std::uint32_t ask = std::min(batch_, room);
  const int got = system_calls::recvmmsg(socket_.get(), storage_->in, ask, MSG_DONTWAIT);
  if (got <= 0) {
    batch_ = 1;
    return 0;
  }
  // As in UdpReceiver: a quiet socket isn't asked for more than one.
  batch_ = static_cast<std::uint32_t>(got) == ask ? std::min(ask * 2, kMaxMessages)
                                                  : static_cast<std::uint32_t>(got);
  std::size_t n = 0;
  for (int i = 0; i < got; ++i) n += show(static_cast<std::size_t>(i), out[n]) ? 1 : 0;
  return n;
}

bool PacketPort::show(std::size_t i, RxPacket& out) {
  const std::size_t size = storage_->in[i].msg_len;
  if (size < sizeof(OffloadHeader) + sizeof(ether_header) ||
      (storage_->in[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.rx_malformed;
    return false;
  }
  const OffloadHeader& offload = storage_->in_offload[i];
  out = {};
  out.data = storage_->frames.get() + i * kStride;
  out.size = static_cast<std::uint32_t>(size - sizeof(OffloadHeader));
  if ((offload.flags & kNeedsChecksum) != 0) {
    out.checksum_start = offload.checksum_start;
    out.checksum_offset = offload.checksum_offset;
  }
  out.coalesced = (offload.gso_type & ~kGsoEcn) == kUdpSegments ? offload.gso_size : 0;
  ++counters_.rx_packets;
  counters_.rx_bytes += out.size;
  return true;
}

void PacketPort::service() {
  watch_.update();
  // MRC-PORT-012: the kernel unbinds the socket of an interface that is deleted.
  if (watch_.link().interface != bound_to_ && bind_to(socket_.get(), watch_.link().interface))
    bound_to_ = watch_.link().interface;
  tpacket_stats since_last{};
  socklen_t size = sizeof since_last;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &since_last, &size) == 0)
    counters_.rx_overrun += since_last.tp_drops;
}

Capabilities PacketPort::capabilities() const {
  return {.layer = Layer::frame,
          .max_train = 1,
          .max_train_bytes = link().mtu + static_cast<std::uint32_t>(sizeof(ether_header)),
          .max_pieces = kMaxPieces,
          .max_burst = kMaxBurst,
          .flow_label = true,
          .outer_ip = true,
          .reserved_qpns = true,
          .receive_buffer = receive_buffer_of(socket_.get()),
          .checksum_offload = true};
}

}  // namespace mrc::port
