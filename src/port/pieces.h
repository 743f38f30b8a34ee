// Cutting a train's bytes into packets: a train is one row of pieces, and a packet's edge may lie inside a
// piece.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "port/port.h"

namespace mrc::port {

/// Walks over the pieces of a train, packet by packet.
class PacketCutter {
 public:
  explicit PacketCutter(const TxTrain& train) : train_(&train) {}

  /// The pieces of the next packet into `out`; returns how many, 0 at the end or when `out` is too small.
  std::size_t next(std::span<iovec> out) {
    std::size_t n = 0;
    std::size_t left = train_->packet_bytes;
    while (left > 0 && piece_ < train_->piece_count) {
      const iovec& piece = train_->pieces[piece_];
      const std::size_t take = piece.iov_len - offset_ < left ? piece.iov_len - offset_ : left;
      if (take > 0) {
        if (n == out.size()) return 0;
        out[n++] = {static_cast<char*>(piece.iov_base) + offset_, take};
      }
      left -= take;
      offset_ += take;
      if (offset_ == piece.iov_len) {
        ++piece_;
        offset_ = 0;
      }
    }
    return n;
  }

 private:
  const TxTrain* train_;
  std::uint32_t piece_ = 0;
  std::size_t offset_ = 0;
};

inline std::size_t total_bytes(const TxTrain& train) {
  std::size_t sum = 0;
  for (std::uint32_t i = 0; i < train.piece_count; ++i) sum += train.pieces[i].iov_len;
  return sum;
}

}  // namespace mrc::port
