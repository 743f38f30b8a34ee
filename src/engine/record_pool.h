// Records of packets in flight. They come from one pool per NIC, in slabs of 64 consecutive PSNs, so that an
// idle QP holds none and a busy one pays 12.25 bytes per packet. An empty pool is back-pressure, not an
// error.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "base/check.h"
#include "base/fixed_array.h"
#include "base/ids.h"
#include "base/time.h"

namespace mrc::engine {

/// Time in 64 ns ticks, modulo 2^32 (275 s): enough to tell the age of a packet.
class Ticks {
 public:
  constexpr Ticks() = default;
  constexpr explicit Ticks(Time t) : value_(static_cast<std::uint32_t>(t.time_since_epoch().count() >> 6)) {}
  /// How long before `now` this was.
  constexpr Duration age(Time now) const {
    return Duration(static_cast<std::int64_t>(static_cast<std::int32_t>(Ticks(now).value_ - value_)) << 6);
  }
  constexpr bool after(Ticks o) const { return static_cast<std::int32_t>(value_ - o.value_) > 0; }
  constexpr bool operator==(const Ticks&) const = default;

 private:
  std::uint32_t value_ = 0;
};

/// The order in which a QP's packets and probes left, whatever their PSN. On one EV this is the order of
/// arrival.
class TxOrder {
 public:
  constexpr TxOrder() = default;
  constexpr explicit TxOrder(std::uint32_t v) : value_(v) {}
  constexpr TxOrder next() const { return TxOrder(value_ + 1); }
  constexpr TxOrder previous() const { return TxOrder(value_ - 1); }
  constexpr bool after(TxOrder o) const { return static_cast<std::int32_t>(value_ - o.value_) > 0; }
  constexpr std::uint32_t distance(TxOrder o) const { return value_ - o.value_; }

 private:
  std::uint32_t value_ = 0;
};

struct Record {
  Ticks sent;                      // last transmission
  TxOrder order;                   // of that transmission
  std::uint16_t slot : 10 = 0;     // EV it took
  std::uint16_t repaired : 1 = 0;  // sent more than once
  std::uint16_t work = 0;          // index of the work request it belongs to
};
static_assert(sizeof(Record) == 12);

struct Slab {
  static constexpr int kPsns = 64;
  std::uint64_t in_flight = 0;  // sent and not settled
  std::uint64_t lost = 0;       // to be sent again
  Record records[kPsns];
};
static_assert(sizeof(Slab) <= Slab::kPsns * 16, "at most 16 bytes per packet in flight");
static_assert(std::is_trivially_destructible_v<Slab>, "nobody destroys them");

class RecordPool {
 public:
  static constexpr std::uint16_t kNone = 0xFFFF;

  explicit RecordPool(std::size_t packets)
      : free_((packets + Slab::kPsns - 1) / Slab::kPsns),
        slabs_(static_cast<Slab*>(::operator new(free_.size() * sizeof(Slab), kPage))),
        free_count_(free_.size()) {
    MRC_CHECK(free_.size() < kNone);  // four million packets in flight
    for (std::size_t i = 0; i < free_.size(); ++i)
      free_[i] = static_cast<std::uint16_t>(free_.size() - 1 - i);
  }

  std::uint16_t take() {
    if (free_count_ == 0) return kNone;
    const std::uint16_t index = free_[--free_count_];
    new (&slabs_[index]) Slab;
    return index;
  }
  void give(std::uint16_t index) { free_[free_count_++] = index; }

  Slab& operator[](std::uint16_t index) { return slabs_[index]; }
  const Slab& operator[](std::uint16_t index) const { return slabs_[index]; }
  std::size_t free_slabs() const { return free_count_; }
  std::size_t used_slabs() const {
    return free_.size() - free_count_;
  }  // at least one per QP with packets in flight
  std::size_t bytes() const { return free_.size() * sizeof(Slab) + free_.bytes(); }

 private:
  // From the start of a page on: what is used, the low slabs, then shares no page with what is not.
  static constexpr std::align_val_t kPage{4096};
  struct Release {
    void operator()(Slab* p) const { ::operator delete(p, kPage); }
  };
  FixedArray<std::uint16_t> free_;
  // Reserved at creation and touched when first taken: the low ones are taken first, so a pool that is never
  // exhausted costs only what it used.
  std::unique_ptr<Slab[], Release> slabs_;
  std::size_t free_count_;
};

}  // namespace mrc::engine
