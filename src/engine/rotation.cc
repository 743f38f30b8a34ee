#include "engine/rotation.h"

#include <algorithm>
#include <vector>

namespace mrc::engine {
namespace {

std::size_t count_planes(std::span<const Path> table) {
  PortMask seen;
  for (const Path& p : table) seen.add(p.port);
  return static_cast<std::size_t>(__builtin_popcount(seen.bits()));
}

void shuffle(std::uint16_t* run, std::uint32_t count, Prng& prng) {
  for (std::uint32_t i = 0; i + 1 < count; ++i) std::swap(run[i], run[i + prng.below(count - i)]);
}

/// Tables are mostly in order, and then have no copies.
bool ascends(std::span<const Path> table, PortId port) {
  std::optional<Ev> last;
  for (const Path& p : table) {
    if (p.port != port) continue;
    if (last && last->value >= p.ev.value) return false;
    last = p.ev;
  }
  return true;
}

/// Where each turn of a path lies in the round: the round cut in as many parts as the path has turns, and one
/// turn at the same place of each, drawn for the path.
void spread(std::span<std::uint16_t> run, Prng& prng) {
  struct Turn {
    double place;
    std::uint16_t slot;
  };
  std::vector<Turn> turns;
  std::sort(run.begin(), run.end());
  for (std::size_t i = 0; i < run.size();) {
    const auto copies =
        static_cast<std::size_t>(std::upper_bound(run.begin(), run.end(), run[i]) - run.begin()) - i;
    const double within = prng.below(1u << 20) * 0x1p-20;
    for (std::size_t k = 0; k < copies; ++k)
      turns.push_back({(static_cast<double>(k) + within) / static_cast<double>(copies), run[i]});
    i += copies;
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& a, const Turn& b) { return a.place < b.place; });
  for (std::size_t i = 0; i < run.size(); ++i) run[i] = turns[i].slot;
}

}  // namespace

EvSlot first_copy(std::span<const Path> table, EvSlot s) {
  const Path& path = table[s.value];
  std::uint16_t i = 0;
  while (table[i].ev != path.ev || table[i].port != path.port) ++i;
  return EvSlot(i);
}

Rotation::Rotation(std::span<const Path> table, std::uint16_t active_per_plane, std::uint8_t reach,
                   Prng& prng)
    : table_(table), order_(table.size()), planes_(count_planes(table)), reach_(reach) {
  std::size_t plane = 0, filled = 0;
  for (int port = 0; port <= kMaxPorts; ++port) {
    Plane p{.port = PortId(static_cast<std::uint8_t>(port)), .begin = static_cast<std::uint16_t>(filled)};
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table[i].port == p.port) order_[filled++] = static_cast<std::uint16_t>(i);
    }
    p.count = static_cast<std::uint16_t>(filled - p.begin);
    if (p.count == 0) continue;
    p.target = active_per_plane == 0 ? p.count : std::min(active_per_plane, p.count);
    arrange(p, prng);
    p.active = std::min(p.target, p.count);
    p.turn = static_cast<std::uint8_t>(plane);
    active_ += p.active;
    plane_of_port_[port] = static_cast<std::uint8_t>(plane);
    planes_[plane++] = p;
  }
}

// QPs begin in unlike orders, or those that began together would meet on every path.
void Rotation::arrange(Plane& p, Prng& prng) {
  std::uint16_t* const run = order_.begin() + p.begin;
  if (!ascends(table_, p.port)) {
    for (std::uint16_t i = 0; i < p.count; ++i) {
      const EvSlot first = first_copy(table_, EvSlot(run[i]));
      if (first.value != run[i]) p.target = kNoReserve;
      run[i] = first.value;
    }
  }
  // MRC-EV-020: copies of an EV are turns of one path.
  if (p.copies()) return spread({run, p.count}, prng);
  if (reach_ != 0) shuffle(run, p.count, prng);
}

void Rotation::withdraw_copies(Plane& p, EvSlot s) {
  std::uint16_t* const run = order_.begin() + p.begin;
  std::uint16_t* const end = run + p.active;
  std::uint16_t* const left = std::remove(run, end, s.value);  // the others close up in their order
  std::fill(left, end, s.value);
  active_ -= static_cast<int>(end - left);
  p.active = static_cast<std::uint16_t>(left - run);
}

void Rotation::admit_copies(Plane& p, EvSlot s) {
  std::uint16_t* const run = order_.begin() + p.begin;
  const auto more = static_cast<std::uint16_t>(std::count(run + p.active, run + p.count, s.value));
  std::partition(run + p.active, run + p.count, [&](std::uint16_t r) { return r == s.value; });
  // Each at its even distance from the last, whoever stood there goes to the end.
  for (std::uint16_t k = 0; k < more; ++k) std::swap(run[p.active + k], run[k * (p.active + more) / more]);
  p.active = static_cast<std::uint16_t>(p.active + more);
  active_ += more;
}

bool Rotation::has_copies() const {
  return std::any_of(planes_.begin(), planes_.end(), [](const Plane& p) { return p.copies(); });
}

int Rotation::paths_in(int plane) const {
  const auto run = in_rotation(plane);
  if (!planes_[plane].copies()) return static_cast<int>(run.size());
  int paths = 0;
  for (auto at = run.begin(); at != run.end(); ++at) paths += std::find(run.begin(), at, *at) == at;
  return paths;
}

std::optional<EvSlot> Rotation::next(PortMask open, Prng& prng) {
  const auto count = static_cast<std::uint32_t>(planes_.size());
  // The rest of this round and a whole new one: each plane is met at least once.
  for (std::uint32_t tried = 0; tried < 2 * count; ++tried) {
    if (place_ >= count) place_ = 0;
    if (count > 1) std::swap(planes_[place_].turn, planes_[place_ + prng.below(count - place_)].turn);
    Plane& p = planes_[planes_[place_++].turn];
    if (p.active == 0 || !open.has(p.port)) continue;
    if (p.position >= p.active) p.position = 0;
    std::uint16_t* const run = order_.begin() + p.begin;
    const auto rest = static_cast<std::uint32_t>(p.active - p.position);
    std::swap(run[p.position],
              run[p.position + prng.below(reach_ == 0 ? rest : std::min<std::uint32_t>(reach_, rest))]);
    return EvSlot(run[p.position++]);
  }
  return std::nullopt;
}

void Rotation::admit(EvSlot s) {
  Plane& p = planes_[plane_of(table_[s.value].port)];
  if (p.copies()) return admit_copies(p, s);
  if (p.active >= p.target) return;
  std::uint16_t* const at = find(p, s);
  std::uint16_t* const first_out = order_.begin() + p.begin + p.active;
  if (at < first_out) return;
  std::swap(*at, *first_out);
  ++p.active;
  ++active_;
}

bool Rotation::contains(EvSlot s) const {
  const auto run = in_rotation(plane_of(table_[s.value].port));
  return std::find(run.begin(), run.end(), s.value) != run.end();
}

std::uint16_t* Rotation::find(Plane& p, EvSlot s) {
  return std::find(order_.begin() + p.begin, order_.begin() + p.begin + p.count, s.value);
}

}  // namespace mrc::engine
