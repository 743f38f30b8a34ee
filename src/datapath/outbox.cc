#include "datapath/outbox.h"

#include <cstring>

#include "wire/codec.h"
#include "wire/icrc.h"
#include "wire/transport.h"

namespace mrc::datapath {
namespace {

constexpr std::size_t kMaxTail = 8;

bool is_link_local(const nic::Gid& a) { return a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0) == 0x80; }

}  // namespace

Outbox::Outbox(port::Port& port, const wire::Settings& wire, const OutboxSettings& settings)
    : port_(port), wire_(wire), settings_(settings), capabilities_(port.capabilities()) {
  local_.bytes = port.local().ip;
  interface_ = port.link().interface;
  arena_.resize(settings.packets * (wire::kMaxHead + settings.copy_below + kMaxTail));
  pieces_.reserve(settings.packets * (2 + nic::kMaxSge));
  trains_.reserve(settings.packets);
  notes_.reserve(settings.packets);
}

void Outbox::append(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (pieces_.size() > notes_.back().first_piece) {
    iovec& last = pieces_.back();
    if (static_cast<const std::uint8_t*>(last.iov_base) + last.iov_len == bytes) {
      last.iov_len += size;
      return;
    }
  }
  pieces_.push_back({const_cast<std::uint8_t*>(bytes), size});
}

/// GSO: all packets of a train have one length, only the last may be shorter.
bool Outbox::joins(const wire::Datagram& around, const nic::Departure& packet, std::uint32_t size) const {
  if (trains_.empty() || notes_.back().closed) return false;
  const port::TxTrain& train = trains_.back();
  const Train& note = notes_.back();
  return train.source_port == around.source_port && train.tos == around.traffic_class &&
         train.flow_label == around.flow_label && size <= train.packet_bytes &&
         train.packets < capabilities_.max_train && note.bytes + size <= capabilities_.max_train_bytes &&
         pieces_.size() - note.first_piece + 2 + packet.payload.count <= capabilities_.max_pieces &&
         note.to.ip == packet.to.bytes;
}

/// The burst is long enough, but the last train is not full.
bool Outbox::train_goes_on() const {
  if (bytes_ >= capabilities_.max_train_bytes || notes_.back().closed) return false;
  const port::TxTrain& train = trains_.back();
  return train.packets < settings_.unit && train.packets < capabilities_.max_train &&
         notes_.back().bytes + train.packet_bytes <= capabilities_.max_train_bytes;
}

void Outbox::open_train(const wire::Datagram& around, const nic::Departure& packet, std::uint32_t size) {
  const nic::Gid& to = packet.to;
  notes_.push_back(
      {{to.bytes, is_link_local(to) ? interface_ : 0}, static_cast<std::uint32_t>(pieces_.size())});
  port::TxTrain& train = trains_.emplace_back();
  train.packet_bytes = size;
  train.packets = 0;
  train.source_port = around.source_port;
  train.flow_label = around.flow_label;
  train.tos = around.traffic_class;
  if (packet.carrier != nullptr) return encapsulate(*packet.carrier, notes_.back());
  // The EV itself stays in the inner header, for the echo.
  if (settings_.routes != nullptr && capabilities_.outer_ip &&
      !settings_.routes->find(to, packet.transmit.envelope.ev, notes_.back().route))
    notes_.back().route.carriers = 0;
}

/// The QP's EV profile says what the outer header holds.
void Outbox::encapsulate(const nic::Carrier& carrier, Train& note) {
  note.route.first = {carrier.first.bytes, 0};
  note.route.carriers = 1;
  if (!carrier.second) return;
  note.route.next = {carrier.second->bytes, 0};
  note.route.carriers = 2;
}

void Outbox::add(const nic::Departure& packet) {
  wire::Datagram around = wire::make_datagram(packet.transmit.envelope, local_, packet.to, wire_);
  if (packet.dscp != nic::kDscpByClass) {
    around.traffic_class = static_cast<std::uint8_t>(packet.dscp << 2 | (around.traffic_class & 3));
  }
  std::size_t payload = 0;
  for (std::size_t i = 0; i < packet.payload.count; ++i) payload += packet.payload.pieces[i].size();
  const std::size_t head = wire::header_size(packet.transmit.packet);
  const std::size_t pad = wire::pad_for(payload);
  const auto size = static_cast<std::uint32_t>(head + payload + pad + wire::kIcrcSize);
  if (!joins(around, packet, size)) open_train(around, packet, size);
  Train& note = notes_.back();
  note.bytes += size;
  note.closed = size < trains_.back().packet_bytes;
  ++trains_.back().packets;
  ++packets_;
  bytes_ += size;
  write(packet, around, {head, payload, pad});
}

void Outbox::write(const nic::Departure& packet, const wire::Datagram& around, Shape shape) {
  std::uint8_t* head = &arena_[arena_used_];
  wire::emit_transport(packet.transmit.packet, shape.payload, wire_, head);
  arena_used_ += shape.head;
  if (shape.payload <= settings_.copy_below) return write_short(packet, around, shape, head);
  append(head, shape.head);
  wire::Icrc icrc(around, head, shape.head + shape.payload + shape.pad + wire::kIcrcSize);
  if (wire_.emit_icrc) icrc.add(wire::Bytes(head, shape.head).subspan(wire::Icrc::kBthInHead));
  for (std::size_t i = 0; i < packet.payload.count; ++i) {
    const nic::Piece piece = packet.payload.pieces[i];
    if (wire_.emit_icrc)
      icrc.add(wire::Bytes(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()));
    append(piece.data(), piece.size());
  }
  std::uint8_t* tail = &arena_[arena_used_];
  std::memset(tail, 0, shape.pad + wire::kIcrcSize);
  if (shape.pad != 0) icrc.add(wire::Bytes(tail, shape.pad));
  if (wire_.emit_icrc) icrc.store(tail + shape.pad);
  arena_used_ += shape.pad + wire::kIcrcSize;
  append(tail, shape.pad + wire::kIcrcSize);
}

/// Everything behind the header: one piece, and one run of the iCRC over it. Short runs cost by their number.
void Outbox::write_short(const nic::Departure& packet, const wire::Datagram& around, Shape shape,
                         std::uint8_t* head) {
  std::uint8_t* end = head + shape.head;
  for (std::size_t i = 0; i < packet.payload.count; ++i) {
    const nic::Piece piece = packet.payload.pieces[i];
    std::memcpy(end, piece.data(), piece.size());
    end += piece.size();
  }
  std::memset(end, 0, shape.pad + wire::kIcrcSize);
  end += shape.pad;
  if (wire_.emit_icrc) {
    wire::Icrc icrc(around, head, static_cast<std::size_t>(end - head) + wire::kIcrcSize);
    icrc.add(wire::Bytes(head, end).subspan(wire::Icrc::kBthInHead));
    icrc.store(end);
  }
  end += wire::kIcrcSize;
  const auto size = static_cast<std::size_t>(end - head);
  arena_used_ += size - shape.head;
  append(head, size);
}

void Outbox::flush() {
  if (trains_.empty()) return;
  if (!backlog_) {
    for (std::size_t i = 0; i < trains_.size(); ++i) {
      const std::size_t end = i + 1 < notes_.size() ? notes_[i + 1].first_piece : pieces_.size();
      trains_[i].pieces = &pieces_[notes_[i].first_piece];
      trains_[i].piece_count = static_cast<std::uint32_t>(end - notes_[i].first_piece);
      trains_[i].to = &notes_[i].to;
      trains_[i].outer = notes_[i].route.carriers > 0 ? &notes_[i].route.first : nullptr;
      trains_[i].outer_next = notes_[i].route.carriers > 1 ? &notes_[i].route.next : nullptr;
    }
  }
  sent_ += port_.tx(std::span(trains_).subspan(sent_));
  backlog_ = sent_ < trains_.size();
  if (!backlog_) discard();
}

void Outbox::discard() {
  trains_.clear();
  notes_.clear();
  pieces_.clear();
  arena_used_ = sent_ = 0;
  packets_ = bytes_ = 0;
  backlog_ = false;
}

}  // namespace mrc::datapath
