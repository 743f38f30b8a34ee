#include "port/framed_port.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "port/frame_head.h"
#include "port/frame_view.h"
#include "port/shield.h"
#include "port/udp_socket.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/udp.h"

namespace mrc::port {
namespace {

wire::IpAddress ip(const Address& address) { return {address.ip}; }

/// Takes the UDP port from everybody else and every packet from itself.
Result<Fd> open_decoy(const FramedPortOptions& options) {
  auto decoy = open_receive_socket({.bind = options.local, .udp_port = options.udp_port, .buffer = 0});
  if (!decoy) return decoy;
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{1, drop_all};
  ::setsockopt(decoy->get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  return decoy;
}

}  // namespace

struct FramedPort::Storage {
  std::uint8_t heads[kMaxBurst][kMaxFrameHead];
  iovec pieces[kMaxBurst][kMaxPieces + 1];
  TxTrain trains[kMaxBurst];
  RxPacket frames[kMaxBurst];
  FrameContent contents[kMaxBurst];
  std::uint32_t packet_bytes[kMaxBurst];
};

Result<std::unique_ptr<FramedPort>> FramedPort::open(std::unique_ptr<Port> frames,
                                                     const FramedPortOptions& options) {
  if (frames->capabilities().layer != Layer::frame)
    return Error{EINVAL, "FramedPort needs a port of frames below it"};
  const std::uint32_t interface = frames->link().interface;
  auto neighbours = Neighbours::open(interface, options.local.is_v4());
  if (!neighbours) return neighbours.error();
  auto decoy = open_decoy(options);
  if (!decoy) return decoy.error();
  auto shield = raise_shield(interface, options.local, options.udp_port);
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return errno_error("open an epoll set");
  for (const int fd : {frames->event_fd(), neighbours->fd()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (fd < 0) continue;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) < 0) return errno_error("watch a port");
  }
  return std::unique_ptr<FramedPort>(new FramedPort(std::move(frames), options, std::move(*neighbours),
                                                    std::move(*decoy), shield ? std::move(*shield) : Fd(),
                                                    std::move(epoll)));
}

FramedPort::FramedPort(std::unique_ptr<Port> frames, const FramedPortOptions& options, Neighbours neighbours,
                       Fd decoy, Fd shield, Fd epoll)
    : frames_(std::move(frames)),
      options_(options),
      interface_(frames_->link().interface),
      neighbours_(std::move(neighbours)),
      decoy_(std::move(decoy)),
      shield_(std::move(shield)),
      epoll_(std::move(epoll)),
      offload_(frames_->capabilities().checksum_offload),
      storage_(new Storage()) {}

FramedPort::~FramedPort() = default;

void FramedPort::service() {
  frames_->service();
  if (frames_->link().interface != interface_) move_to(frames_->link().interface);
  neighbours_.update();
  send_held();
}

void FramedPort::move_to(std::uint32_t interface) {
  interface_ = interface;
  available_ = current_ = offset_ =
      0;  // frames of the last read may be gone with the memory that they were in
  neighbours_.move_to(interface);
  auto shield = raise_shield(interface, options_.local, options_.udp_port);
  shield_ = shield ? std::move(*shield) : Fd();
}

Capabilities FramedPort::capabilities() const {
  const Capabilities below = frames_->capabilities();
  return {.layer = Layer::datagram,
          .max_train = 1,
          .max_train_bytes = 65535 - kMaxFrameHead,
          .max_pieces = kMaxPieces,
          .max_burst = kMaxBurst,
          .min_source_port = 0,
          .flow_label = !options_.local.is_v4(),
          .outer_ip = !options_.local.is_v4(),
          .reserved_qpns = below.reserved_qpns,
          .receive_buffer = below.receive_buffer,
          .cheap_to_ask = below.cheap_to_ask};
}

int FramedPort::check(const TxTrain& packet) const {
  const bool v4 = options_.local.is_v4();
  if (packet.packets != 1 || packet.piece_count == 0 || packet.piece_count > kMaxPieces) return EINVAL;
  if (packet.to == nullptr || packet.to->is_v4() != v4 || (v4 && packet.outer != nullptr)) return EINVAL;
  if (packet.outer_next != nullptr && packet.outer == nullptr) return EINVAL;
  const std::size_t l3 = frame_head_size(packet) - wire::Ethernet::kSize + packet.packet_bytes;
  return l3 > frames_->link().mtu ? EMSGSIZE : 0;
}

/// Writes the headers of one packet and its list of pieces; returns 0 or why it can't be sent.
int FramedPort::wrap(std::size_t i, const TxTrain& packet) {
  if (const int error = check(packet); error != 0) return error;
  const NextHop hop = neighbours_.find(packet.outer != nullptr ? *packet.outer : *packet.to);
  if (hop.error != 0) return hop.error;
  const FrameRoute route{options_.local, neighbours_.own_mac(), hop.mac, options_.udp_port,
                         options_.hop_limit};
  const std::size_t head = frame_head_size(packet);
  emit_frame_head(packet, route, storage_->heads[i]);
  storage_->pieces[i][0] = {storage_->heads[i], head};
  std::copy_n(packet.pieces, packet.piece_count, storage_->pieces[i] + 1);
  storage_->trains[i] = {.pieces = storage_->pieces[i],
                         .piece_count = packet.piece_count + 1,
                         .packet_bytes = static_cast<std::uint32_t>(head + packet.packet_bytes)};
  if (!packet.to->is_v4() && options_.udp6_checksum) write_checksum(i, packet, head - wire::Udp::kSize);
  return 0;
}

/// Over the inner addresses, which no switch changes. The port below does the long part where it can.
void FramedPort::write_checksum(std::size_t i, const TxTrain& train, std::size_t udp_at) {
  std::uint8_t* udp = storage_->heads[i] + udp_at;
  wire::Checksum sum;
  sum.add_udp_pseudo(ip(options_.local), ip(*train.to),
                     static_cast<std::uint32_t>(wire::Udp::kSize + train.packet_bytes));
  if (offload_) {
    wire::store16(udp + 6, sum.sum());
    storage_->trains[i].checksum_start = static_cast<std::uint16_t>(udp_at);
    storage_->trains[i].checksum_offset = 6;
    return;
  }
  sum.add({udp, wire::Udp::kSize});
  for (std::uint32_t p = 0; p < train.piece_count; ++p)
    sum.add({static_cast<const std::uint8_t*>(train.pieces[p].iov_base), train.pieces[p].iov_len});
  wire::store16(udp + 6, sum.value() == 0 ? 0xFFFF : sum.value());
}

std::size_t FramedPort::tx(std::span<TxTrain> trains) {
  if (!held_.empty() && neighbours_.update()) send_held();
  std::size_t done = 0;
  while (done < trains.size()) {
    std::size_t n = 0;
    int error = 0;
    while (n < kMaxBurst && done + n < trains.size() && (error = wrap(n, trains[done + n])) == 0) ++n;
    const std::size_t sent = n == 0 ? 0 : frames_->tx({storage_->trains, n});
    for (std::size_t i = 0; i < sent; ++i) {
      trains[done + i].error = storage_->trains[i].error;
      count(trains[done + i], trains[done + i].error);
    }
    done += sent;
    if (sent < n) break;
    if (error == 0) continue;
    trains[done].error = refuse(trains[done], error);
    ++done;
  }
  return done;
}

void FramedPort::count(const TxTrain& packet, int error) {
  (error == 0 ? counters_.tx_packets : counters_.tx_discarded) += 1;
  counters_.tx_bytes += error == 0 ? packet.packet_bytes : 0;
}

// MRC-PORT-011: what the kernel is still looking for the way of waits here, and stops no other packet.
int FramedPort::refuse(const TxTrain& packet, int error) {
  if (error == EAGAIN && held_.add(packet)) return 0;
  count(packet, error);
  return error == EAGAIN ? EHOSTUNREACH : error;
}

void FramedPort::send_held() {
  bool blocked = false;
  held_.offer([&](const TxTrain& packet) {
    const int error = blocked ? EAGAIN : wrap(0, packet);
    if (error == EAGAIN) return false;
    if (error == 0) blocked = frames_->tx({storage_->trains, 1}) == 0;
    if (!blocked) count(packet, error != 0 ? error : storage_->trains[0].error);
    return !blocked;
  });
}

std::size_t FramedPort::rx(std::span<RxPacket> out) {
  std::size_t n = 0;
  while (n == 0) {
    if (current_ == available_ && !refill()) return 0;
    while (n < out.size() && current_ < available_) n += split(out.subspan(n));
  }
  counters_.rx_packets += n;
  for (const RxPacket& packet : out.first(n)) counters_.rx_bytes += packet.size;
  return n;
}

// MRC-PORT-008: what did not come by our segment id, or names a sender that no NIC of the fabric is, goes no
// further than here, and is counted.
bool FramedPort::ours(const FrameContent* c) {
  if (c == nullptr || c->destination_port != options_.udp_port) return ++counters_.rx_malformed, false;
  if (options_.sid && !(c->encapsulated && options_.sid->contains({c->outer_to.ip})))
    return ++counters_.rx_outside, false;
  const bool true_source =
      !options_.fabric || (options_.fabric->contains({c->from.ip}) &&
                           (!c->encapsulated || options_.fabric->contains({c->outer_from.ip})));
  if (!true_source) return ++counters_.rx_wrong_inner, false;
  if (!options_.any_destination && c->to.ip != options_.local.ip) {
    ++(options_.sid ? counters_.rx_wrong_inner : counters_.rx_malformed);
    return false;
  }
  return true;
}

/// Keeps the frames that are for us; the rest are other people's, or broken.
bool FramedPort::refill() {
  available_ = current_ = offset_ = 0;
  const std::size_t got = frames_->rx(storage_->frames);
  for (std::size_t i = 0; i < got; ++i) {
    const RxPacket frame = storage_->frames[i];
    const auto content = open_frame(frame);
    if (!ours(content ? &*content : nullptr)) continue;
    storage_->contents[available_] = *content;
    storage_->packet_bytes[available_] = frame.coalesced != 0 ? frame.coalesced : content->payload_size;
    storage_->frames[available_++] = frame;
  }
  return got != 0;
}

/// Views of the current frame's packets, as many as fit; moves on when it is used up.
std::size_t FramedPort::split(std::span<RxPacket> out) {
  const FrameContent& c = storage_->contents[current_];
  std::size_t n = 0;
  do {
    const std::uint32_t size = std::min(storage_->packet_bytes[current_], c.payload_size - offset_);
    out[n++] = {.data = c.payload + offset_,
                .size = size,
                .flow_label = c.flow_label,
                .from = &c.from,
                .to = &c.to,
                .source_port = c.source_port,
                .tos = c.tos,
                .arrival_ns = storage_->frames[current_].arrival_ns};
    offset_ += size;
  } while (n < out.size() && offset_ < c.payload_size);
  if (offset_ >= c.payload_size) {
    ++current_;
    offset_ = 0;
  }
  return n;
}

}  // namespace mrc::port
