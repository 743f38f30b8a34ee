#include "nic/region_table.h"

#include <bit>
#include <utility>

namespace mrc::nic {
namespace {

void mix(std::uint64_t (&v)[4]) {
  v[0] += v[1], v[2] += v[3];
  v[1] = std::rotl(v[1], 13) ^ v[0], v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[1], v[0] += v[3];
  v[1] = std::rotl(v[1], 17) ^ v[2], v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] = std::rotl(v[2], 32);
}

/// SipHash-2-4 of one word: a peer that has seen keys cannot compute the next one without the secret.
std::uint64_t keyed_hash(RegionTable::Secret secret, std::uint64_t word) {
  std::uint64_t v[4] = {secret[0] ^ 0x736F6D6570736575, secret[1] ^ 0x646F72616E646F6D,
                        secret[0] ^ 0x6C7967656E657261, secret[1] ^ 0x7465646279746573};
  const std::uint64_t length_word = std::uint64_t{8} << 56;
  for (const std::uint64_t w : {word, length_word}) {
    v[3] ^= w;
    mix(v), mix(v);
    v[0] ^= w;
  }
  v[2] ^= 0xFF;
  for (int i = 0; i < 4; ++i) mix(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

constexpr std::size_t kFirstSlots = 8;

unsigned shift_for(std::size_t slots) { return 32u - static_cast<unsigned>(std::countr_zero(slots)); }

}  // namespace

RegionTable::RegionTable(std::size_t capacity, Secret secret)
    : capacity_(capacity), shift_(shift_for(kFirstSlots)), slots_(kFirstSlots), secret_(secret) {}

void RegionTable::grow() {
  FixedArray<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  shift_ = shift_for(slots_.size());
  for (const Slot& slot : old) {
    if (slot.key != RKey{}) slots_[seek(slot.key)] = slot;
  }
}

std::size_t RegionTable::seek(RKey key) const {
  std::size_t at = home(key);
  while (slots_[at].key != RKey{} && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
  return at;
}

// MRC-NIC-001: remote keys are unguessable.
RKey RegionTable::fresh_key() {
  while (true) {
    const RKey key{static_cast<std::uint32_t>(keyed_hash(secret_, counter_++))};
    if (key != RKey{} && slots_[seek(key)].key == RKey{}) return key;
  }
}

std::optional<RKey> RegionTable::add(const Region& region) {
  if (size_ == capacity_) return std::nullopt;
  if (2 * (size_ + 1) > slots_.size()) grow();
  const RKey key = fresh_key();
  slots_[seek(key)] = Slot{key, region};
  ++size_;
  return key;
}

bool RegionTable::remove(RKey key) {
  std::size_t hole = seek(key);
  if (key == RKey{} || slots_[hole].key != key) return false;
  // Those behind the hole that would be missed move up; there are no tombstones to slow later searches.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = (hole + 1) & mask; slots_[at].key != RKey{}; at = (at + 1) & mask) {
    if (((at - home(slots_[at].key)) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = Slot{};
  --size_;
  return true;
}

const Region* RegionTable::find(RKey key) const {
  const Slot& slot = slots_[seek(key)];
  return key != RKey{} && slot.key == key ? &slot.region : nullptr;
}

RegionTable::Access RegionTable::check_remote(PdId pd, RKey key, std::uint64_t va, std::uint32_t length,
                                              std::byte*& place) const {
  if (length == 0) return Access::ok;  // MRC-NIC-002: a zero-length write touches no memory and needs no key
  const Region* region = find(key);
  if (region == nullptr || region->pd != pd) return Access::bad_rkey;
  if (!region->remote_write) return Access::no_access;
  if (!region->holds(va, length)) return Access::out_of_bounds;
  place = region->at(va);
  return Access::ok;
}

RegionTable::Access RegionTable::check_local(PdId pd, RKey key, std::uint64_t va, std::uint32_t length,
                                             std::byte*& place) const {
  const Region* region = find(key);
  if (region == nullptr || region->pd != pd) return Access::bad_rkey;
  if (!region->holds(va, length)) return Access::out_of_bounds;
  place = region->at(va);
  return Access::ok;
}

}  // namespace mrc::nic
