#include "port/xdp_port.h"

#include <net/ethernet.h>

#include <algorithm>
#include <cstring>

#include "port/xdp_steering.h"

namespace mrc::port {
namespace {

constexpr std::uint32_t kContinues = 1;  // XDP_PKT_CONTD: the frame goes on in the next descriptor
constexpr std::uint32_t kQueues = 256;

}  // namespace

Error XdpPort::explain(Error error, const char* when_busy) const {
  error.what += " (" + options_.interface + (error.code == EBUSY ? std::string(": ") + when_busy : "") + ")";
  return error;
}

Result<std::unique_ptr<XdpPort>> XdpPort::open(const XdpPortOptions& options) {
  const auto interface = interface_named(options.interface);
  if (!interface) return interface.error();
  auto watch = LinkWatch::open(*interface);
  if (!watch) return watch.error();
  auto map = make_socket_map(kQueues);  // first: it says at once that privileges are missing
  if (!map) return map.error();
  auto program = load_xdp_program(steer_udp_port(options.udp_port, map->get()));
  if (!program) return program.error();
  std::unique_ptr<XdpPort> port(
      new XdpPort(options, std::move(*map), std::move(*program), std::move(*watch)));
  if (auto attached = port->attach(); !attached) return attached.error();
  return port;
}

XdpPort::XdpPort(const XdpPortOptions& options, Fd map, Fd program, LinkWatch watch)
    : options_(options), map_(std::move(map)), program_(std::move(program)), watch_(std::move(watch)) {}

XdpPort::~XdpPort() = default;

/// A socket is bound once: with each interface comes a new one.
Status XdpPort::attach() {
  const std::uint32_t interface = watch_.link().interface;
  const auto frame = static_cast<std::uint32_t>(watch_.link().mtu + sizeof(ether_header));
  auto socket = XdpSocket::open(interface, options_.queue, XdpLayout::for_frames_of(frame));
  if (!socket) return explain(socket.error(), "another program uses AF_XDP there, and one can at a time");
  if (auto put = put_socket(map_.get(), options_.queue, (*socket)->fd()); !put) return put;
  socket_ = std::move(*socket);
  const XdpLayout& layout = socket_->layout();
  chunks_in_flight_.assign(layout.tx_places, 0);
  free_places_.clear();
  for (std::uint32_t i = layout.tx_places; i > 0; --i) free_places_.push_back(i - 1);
  shown_.clear();
  shown_.reserve(layout.rx_places);
  dropped_ = 0;
  if (auto linked = link_program(); !linked) return linked;
  attached_to_ = interface;
  return Done{};
}

Status XdpPort::link_program() {
  for (const XdpMode mode : {XdpMode::driver, XdpMode::generic}) {
    if (mode == XdpMode::driver && !options_.driver_mode) continue;
    auto link = link_xdp_program(program_.get(), watch_.link().interface, mode);
    mode_ = mode;
    if (link) {
      link_ = std::move(*link);
      return Done{};
    }
    if (mode == XdpMode::generic || link.error().code == EBUSY)
      return explain(
          link.error(),
          "it has an XDP program already; 'ip link show' says which, 'ip link set ... xdp off' ends it");
  }
  return Done{};
}

std::uint32_t XdpPort::max_frame() const {
  const XdpLayout& layout = socket_->layout();
  return (socket_->long_frames() ? layout.chunks_per_place : 1) * (XdpLayout::kChunk - XdpLayout::kHeadroom);
}

/// Copies a frame into a free place and describes it, chunk by chunk; 0, an errno, or EAGAIN when there is no
/// place.
int XdpPort::put(const TxTrain& train) {
  if (train.packets != 1 || train.piece_count == 0 || train.packet_bytes < sizeof(ether_header))
    return EINVAL;
  if (train.packet_bytes > max_frame()) return EMSGSIZE;
  const XdpLayout& layout = socket_->layout();
  if (free_places_.empty() || socket_->tx.room() < layout.chunks_per_place) return EAGAIN;
  const std::uint32_t place = free_places_.back();
  const std::uint64_t start = layout.tx_start() + place * layout.place_bytes();
  std::byte* at = socket_->memory() + start;
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < train.piece_count; ++i) size += train.pieces[i].iov_len;
  if (size != train.packet_bytes) return EINVAL;
  for (std::uint32_t i = 0; i < train.piece_count; ++i) {
    std::memcpy(at, train.pieces[i].iov_base, train.pieces[i].iov_len);
    at += train.pieces[i].iov_len;
  }
  free_places_.pop_back();
  for (std::size_t done = 0; done < size; done += XdpLayout::kChunk) {
    const std::size_t n = std::min<std::size_t>(XdpLayout::kChunk, size - done);
    socket_->tx.next_free() = {start + done, static_cast<std::uint32_t>(n), done + n < size ? kContinues : 0};
    ++chunks_in_flight_[place];
  }
  return 0;
}

std::size_t XdpPort::tx(std::span<TxTrain> trains) {
  blocked_ = false;
  reclaim();
  std::size_t done = 0;
  for (; done < trains.size(); ++done) {
    TxTrain& train = trains[done];
    train.error = put(train);
    if (train.error == EAGAIN) {
      push();
      reclaim();
      train.error = put(train);
    }
    if (train.error == EAGAIN) {
      train.error = 0;
      blocked_ = true;
      break;
    }
    (train.error == 0 ? counters_.tx_packets : counters_.tx_discarded) += 1;
    counters_.tx_bytes += train.error == 0 ? train.packet_bytes : 0;
  }
  push();
  return done;
}

/// The kernel sends some tens of frames per call; EAGAIN says that more are waiting.
void XdpPort::push() {
  socket_->tx.publish();
  constexpr int kMaxKicks = 64;
  for (int i = 0; i < kMaxKicks && !socket_->tx.drained(); ++i) {
    const int error = socket_->kick();
    if (error != 0 && error != EAGAIN && error != EINTR) break;
  }
}

/// A place is free again when the kernel has finished with all of its chunks.
void XdpPort::reclaim() {
  const XdpLayout& layout = socket_->layout();
  for (std::uint32_t n = socket_->completion.available(); n > 0; --n) {
    const auto place =
        static_cast<std::uint32_t>((socket_->completion.next() - layout.tx_start()) / layout.place_bytes());
    if (--chunks_in_flight_[place] == 0) free_places_.push_back(place);
  }
  socket_->completion.release();
}

/// Gives back to the kernel what the last rx() showed.
void XdpPort::recycle() {
  if (shown_.empty()) return;
  for (const std::uint64_t place : shown_) socket_->fill.next_free() = place;
  socket_->fill.publish();
  shown_.clear();
}

std::size_t XdpPort::rx(std::span<RxPacket> out) {
  recycle();
  std::size_t n = 0;
  for (std::uint32_t parts; n < out.size() && (parts = parts_of_next()) != 0;)
    n += take(parts, out[n]) ? 1 : 0;
  socket_->rx.release();
  counters_.rx_packets += n;
  for (const RxPacket& packet : out.first(n)) counters_.rx_bytes += packet.size;
  return n;
}

/// Descriptors of the next frame; 0 when there is none, or its end isn't there yet.
std::uint32_t XdpPort::parts_of_next() const {
  const std::uint32_t available = socket_->rx.available();
  for (std::uint32_t i = 0; i < available; ++i)
    if ((socket_->rx.peek(i).options & kContinues) == 0) return i + 1;
  return 0;
}

/// The parts of a long frame are put together behind the first: the rest of its place is ours. False when it
/// doesn't fit, which takes a frame longer than the link allows.
bool XdpPort::take(std::uint32_t parts, RxPacket& out) {
  const std::uint64_t place_bytes = socket_->layout().place_bytes();
  out = {};
  std::uint64_t room = 0;
  bool fits = true;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const xdp_desc& part = socket_->rx.next();
    std::byte* bytes = socket_->memory() + part.addr;
    shown_.push_back(part.addr - part.addr % place_bytes);
    if (i == 0) {
      out.data = bytes;
      room = place_bytes - part.addr % place_bytes;
    }
    fits = fits && out.size + part.len <= room;
    if (i > 0 && fits) std::memcpy(const_cast<std::byte*>(out.data) + out.size, bytes, part.len);
    out.size += part.len;
  }
  if (!fits) ++counters_.rx_malformed;
  return fits;
}

// MRC-PORT-012: tried again whenever something changes, if another has the queue or the interface by then.
void XdpPort::service() {
  if (watch_.update() && watch_.link().interface != attached_to_) (void)attach();
  const std::uint64_t total = socket_->dropped();
  counters_.rx_overrun += total - dropped_;
  dropped_ = total;
}

Link XdpPort::link() const {
  Link now = watch_.link();
  now.up = now.up && now.interface == attached_to_;
  return now;
}

Capabilities XdpPort::capabilities() const {
  return {.layer = Layer::frame,
          .max_train = 1,
          .max_train_bytes = max_frame(),
          .max_pieces = 1024,
          .max_burst = kMaxBurst,
          .flow_label = true,
          .outer_ip = true,
          .reserved_qpns = true,
          .receive_buffer = std::uint64_t{socket_->layout().rx_places} * XdpLayout::kChunk,
          .cheap_to_ask = true};
}

}  // namespace mrc::port
