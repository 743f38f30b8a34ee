#include "port/held_packets.h"

namespace mrc::port {

HeldPackets::Held::Held(const TxTrain& of) : what(of), to(*of.to) {
  bytes.reserve(of.packet_bytes);
  for (std::uint32_t i = 0; i < of.piece_count; ++i) {
    const auto* start = static_cast<const std::byte*>(of.pieces[i].iov_base);
    bytes.insert(bytes.end(), start, start + of.pieces[i].iov_len);
  }
  if (of.outer != nullptr) outer = *of.outer;
  if (of.outer_next != nullptr) outer_next = *of.outer_next;
}

TxTrain HeldPackets::Held::train() {
  piece = {bytes.data(), bytes.size()};
  TxTrain out = what;
  out.pieces = &piece;
  out.piece_count = 1;
  out.to = &to;
  out.outer = what.outer != nullptr ? &outer : nullptr;
  out.outer_next = what.outer_next != nullptr ? &outer_next : nullptr;
  return out;
}

bool HeldPackets::add(const TxTrain& train) {
  if (all_.size() >= kMost) return false;
  all_.emplace_back(train);
  return true;
}

}  // namespace mrc::port
