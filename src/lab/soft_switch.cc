#include "lab/soft_switch.h"

#include <algorithm>
#include <cstring>

#include "lab/neighbour.h"
#include "wire/ethernet.h"

namespace mrc::lab {
namespace {

using fabric::Fate;
using fabric::PsTime;

constexpr std::uint16_t kUdpChecksumOffset = 6;

std::vector<fabric::Link> links_of(const std::vector<SoftPort>& ports) {
  std::vector<fabric::Link> out;
  for (const SoftPort& p : ports) out.emplace_back(p.link);
  return out;
}

}  // namespace

SoftSwitch::SoftSwitch(SoftSwitchSettings settings, std::vector<SoftPort> ports)
    : settings_(std::move(settings)),
      ports_(std::move(ports)),
      switch_(settings_.by_usid, settings_.usid_table, links_of(ports_)),
      plain_(settings_.plain, settings_.plain_table, {}),
      pool_(settings_.frames),
      random_(settings_.seed),
      waiting_since_(ports_.size()),
      leaving_(ports_.size()) {
  burst_.reserve(kBurst);
  for (auto& frames : leaving_) frames.reserve(kTrains);
}

bool SoftSwitch::turn(PsTime now) {
  now_ = now;
  bool moved = false;
  for (std::uint16_t p = 0; p < ports(); ++p) {
    if (!receive(p)) continue;
    // What came must be on its way, or copied, before this port is read again.
    send_all(now);
    keep_waiting_bodies();
    moved = true;
  }
  return moved | send_all(now);
}

bool SoftSwitch::send_all(PsTime now) {
  bool moved = false;
  for (std::uint16_t p = 0; p < ports(); ++p) moved |= send(p, now);
  return moved;
}

bool SoftSwitch::receive(std::uint16_t p) {
  std::array<port::RxPacket, kBurst> packets;
  const std::size_t n = ports_[p].port->rx(packets);
  burst_.clear();
  counters_.received += n;
  for (std::size_t i = 0; i < n; ++i) take(p, packets[i]);
  return n != 0;
}

void SoftSwitch::take(std::uint16_t p, const port::RxPacket& packet) {
  if (packet.coalesced != 0) return take_apart(p, packet);
  ByteFrame* f = take_frame();
  if (f == nullptr) return;
  f->head_bytes = static_cast<std::uint16_t>(std::min<std::size_t>(packet.size, kHeadBytes));
  std::memcpy(f->head.data(), packet.data, f->head_bytes);
  f->body = packet.data + f->head_bytes;
  f->checksum_start = packet.checksum_start;
  f->checksum_offset = packet.checksum_offset;
  forward(p, *f, packet.size);
}

/// Several packets in one frame, from a kernel that leaves segmentation to its device: each goes its own way.
void SoftSwitch::take_apart(std::uint16_t p, const port::RxPacket& packet) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packet.data);
  const auto segments = find_segments(wire::Bytes(bytes, std::min<std::size_t>(packet.size, kHeadBytes)),
                                      packet.size, packet.coalesced);
  if (!segments) {
    ++counters_.not_segments;
    return;
  }
  ++counters_.coalesced;
  for (std::uint32_t i = 0; i < segments->count; ++i) {
    ByteFrame* f = take_frame();
    if (f == nullptr) return;
    copy_segment(*f, bytes, *segments, i);
    forward(p, *f, segments->payload + segments->size(i));
  }
}

void SoftSwitch::copy_segment(ByteFrame& f, const std::uint8_t* frame, const Segments& s, std::uint32_t i) {
  const std::uint32_t beside = std::min<std::uint32_t>(s.size(i), kHeadBytes - s.payload);
  std::memcpy(f.head.data(), frame, s.payload);
  std::memcpy(f.head.data() + s.payload, frame + s.offset(i), beside);
  f.head_bytes = static_cast<std::uint16_t>(s.payload + beside);
  f.body = reinterpret_cast<const std::byte*>(frame + s.offset(i) + beside);
  write_segment_head(wire::MutableBytes(f.head.data(), f.head_bytes), s, s.size(i));
  f.checksum_start = s.udp;
  f.checksum_offset = kUdpChecksumOffset;
}

void SoftSwitch::forward(std::uint16_t p, ByteFrame& frame, std::uint32_t size) {
  ByteFrame* f = &frame;
  if (f->head_bytes >= wire::Ethernet::kSize) {
    ports_[p].peer = wire::EthernetView(wire::Bytes(f->head)).source();
    ports_[p].heard = true;
  }
  const wire::MutableBytes head(f->head.data(), f->head_bytes);
  const fabric::Routed r = fabric::route_bytes(switch_, plain_, head, settings_.bytes, *f, size);
  if (fabric::is_gone(r.route.fate)) return refuse(p, *f, r.route.fate);
  f->ingress = p;
  if (switch_.port(r.route.port).empty()) waiting_since_[r.route.port] = now_;
  if (fabric::is_gone(switch_.admit(r.route, *f, random_).fate)) return pool_.release(*f);
  f->body_bytes =
      f->bytes > f->head_bytes ? f->bytes - f->head_bytes : 0;  // padding and what was trimmed stay behind
  burst_.push_back(f);
}

ByteFrame* SoftSwitch::take_frame() {
  ByteFrame* f = pool_.take();
  if (f == nullptr) ++counters_.out_of_frames;
  return f;
}

// MRC-FAB-018: what is not addressed within the fabric is dropped and counted; only a neighbour's question is
// answered.
void SoftSwitch::refuse(std::uint16_t p, ByteFrame& f, Fate fate) {
  if (fate == Fate::outside_locator) answer(p, f);
  ++refused_[static_cast<int>(fate)];
  pool_.release(f);
}

void SoftSwitch::answer(std::uint16_t p, const ByteFrame& f) {
  std::array<std::uint8_t, kNeighbourBytes> bytes;
  const std::size_t size = answer_solicitation(wire::Bytes(f.head.data(), f.head_bytes), settings_.link_local,
                                               ports_[p].mac, bytes);
  if (size == 0) return;
  ++counters_.solicitations;
  const iovec piece{bytes.data(), size};
  port::TxTrain train{.pieces = &piece, .piece_count = 1, .packet_bytes = static_cast<std::uint32_t>(size)};
  ports_[p].port->tx({&train, 1});
}

bool SoftSwitch::send(std::uint16_t p, PsTime now) {
  if (leaving_[p].empty() && (!switch_.port(p).has_work() || switch_.port(p).free_at() > now)) return false;
  fill_trains(p, now);
  const std::size_t before = leaving_[p].size();
  if (before != 0) push(p);
  return leaving_[p].size() != before;
}

/// Takes off the link what may leave by now. One that is behind, because nobody served it while frames
/// waited, sends as if it had been served in time.
void SoftSwitch::fill_trains(std::uint16_t p, PsTime now) {
  auto& leaving = leaving_[p];
  fabric::Link& link = switch_.port(p);
  while (leaving.size() < kTrains && link.free_at() <= now) {
    const PsTime at = std::max({link.free_at(), waiting_since_[p], now - settings_.catch_up});
    const auto d = switch_.poll(p, at, random_);
    if (!d) return;
    auto& f = static_cast<ByteFrame&>(*d.frame);
    if (fabric::is_gone(d.fate)) {
      pool_.release(f);
      continue;
    }
    prepare(p, f);
    leaving.push_back(&f);
  }
}

/// Writes what was decided into the bytes. From here on `bytes` is what goes onto the wire.
void SoftSwitch::prepare(std::uint16_t p, ByteFrame& f) {
  const std::size_t size =
      fabric::write_frame(f, wire::MutableBytes(f.head.data(), f.head_bytes), settings_.bytes);
  f.head_bytes = static_cast<std::uint16_t>(std::min<std::size_t>(size, f.head_bytes));
  f.body_bytes = static_cast<std::uint32_t>(size - f.head_bytes);
  f.bytes = static_cast<std::uint32_t>(size);
  if (wire::is_trimmed(f.traffic_class)) f.checksum_start = 0;  // its checksum was made anew
  emit(wire::Ethernet{ports_[p].peer, ports_[p].mac, wire::kEtherIpv6}, f.head.data());
}

void SoftSwitch::push(std::uint16_t p) {
  auto& leaving = leaving_[p];
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    ByteFrame& f = *leaving[i];
    pieces_[2 * i] = {f.head.data(), f.head_bytes};
    pieces_[2 * i + 1] = {const_cast<std::byte*>(f.body), f.body_bytes};
    trains_[i] = {.pieces = &pieces_[2 * i],
                  .piece_count = f.body_bytes == 0 ? 1u : 2u,
                  .packet_bytes = f.bytes,
                  .checksum_start = f.checksum_start,
                  .checksum_offset = f.checksum_offset};
  }
  const std::size_t done = ports_[p].port->tx(std::span(trains_).first(leaving.size()));
  for (std::size_t i = 0; i < done; ++i) {
    (trains_[i].error == 0 ? counters_.sent : counters_.refused_by_port) += 1;
    pool_.release(*leaving[i]);
  }
  leaving.erase(leaving.begin(), leaving.begin() + static_cast<std::ptrdiff_t>(done));
}

void SoftSwitch::keep_waiting_bodies() {
  for (ByteFrame* f : burst_) {
    if (f->in_use) f->keep_body();
  }
  burst_.clear();
}

PsTime SoftSwitch::next_departure() const {
  PsTime next = PsTime::max();
  for (std::uint16_t p = 0; p < ports(); ++p) {
    if (leaving_[p].empty() && switch_.port(p).has_work()) next = std::min(next, switch_.port(p).free_at());
  }
  return next;
}

std::vector<int> SoftSwitch::wait_fds() const {
  std::vector<int> out;
  for (const SoftPort& p : ports_) {
    out.push_back(p.port->wait_fd());
    if (p.port->event_fd() >= 0) out.push_back(p.port->event_fd());  // a link that came or went
  }
  return out;
}

void SoftSwitch::service(PsTime now) {
  const bool ask_now = now >= ask_again_;
  if (ask_now) ask_again_ = now + kAskPeriod;
  for (SoftPort& p : ports_) {
    p.port->service();
    while (p.port->poll_link_event()) {
    }
    if (ask_now && !p.heard) ask(p);
  }
}

void SoftSwitch::ask(const SoftPort& p) {
  std::array<std::uint8_t, kNeighbourBytes> bytes;
  const std::size_t size = make_solicitation(p.peer_link_local, settings_.link_local, p.mac, bytes);
  const iovec piece{bytes.data(), size};
  port::TxTrain train{.pieces = &piece, .piece_count = 1, .packet_bytes = static_cast<std::uint32_t>(size)};
  p.port->tx({&train, 1});
}

}  // namespace mrc::lab
