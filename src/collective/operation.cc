#include "collective/operation.h"

#include <algorithm>
#include <cstring>

namespace mrc::collective {
namespace {

constexpr std::size_t kLeastSegment = 64 << 10;  // smaller ones cost more than their overlap gains
constexpr std::size_t kPeriod = 1000;            // of the values, which floats add up exactly

std::size_t block_for(std::size_t bytes, std::uint32_t ranks) {
  return std::max<std::size_t>((bytes + ranks * sizeof(float) - 1) / (ranks * sizeof(float)), 1) *
         sizeof(float);
}
float value(std::size_t i, std::uint32_t rank) { return static_cast<float>(i % kPeriod + rank); }

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::ring_all_reduce: return "ring_all_reduce";
    case Kind::tree_all_reduce: return "tree_all_reduce";
    case Kind::all_to_all: return "all_to_all";
  }
  return "";
}

double bus_factor(Kind kind, std::uint32_t ranks) {
  const double share = (ranks - 1.0) / ranks;
  return kind == Kind::all_to_all ? share : 2 * share;
}

Operation::Operation(Mesh& mesh, Kind kind, std::size_t bytes)
    : mesh_(mesh), kind_(kind), block_(block_for(bytes, mesh.ranks())) {}

std::size_t Operation::memory_for(std::size_t bytes, std::uint32_t ranks) {
  return 5 * block_for(bytes, ranks) * ranks;
}

void Operation::fill() {
  const std::size_t count = bytes() / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) floats(0)[i] = value(i, mesh_.rank());
  // Each run brings the same values: what the last one left behind must not pass for them.
  constexpr int kNan = 0xFF;
  for (const std::size_t area : {bytes(), 3 * bytes()}) std::memset(mesh_.memory() + area, kNan, area_used());
}

/// Memory that is never touched costs nothing.
std::size_t Operation::area_used() const {
  const std::uint32_t n = mesh_.ranks(), child = 2 * mesh_.rank() + 1;
  switch (kind_) {
    case Kind::ring_all_reduce: return (n - 1) * block_;
    case Kind::tree_all_reduce: return std::min(n - std::min(child, n), 2u) * bytes();
    case Kind::all_to_all: return bytes();
  }
  return 0;
}

std::uint64_t Operation::wrong() const {
  const std::uint32_t n = mesh_.ranks();
  const std::size_t count = bytes() / sizeof(float), per_block = block_ / sizeof(float);
  // All-to-all wrote to the area of the run before: run() has turned the parity since.
  const std::size_t from = kind_ == Kind::all_to_all ? bytes() + (1 - parity_) * 2 * bytes() : 0;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto sender = static_cast<std::uint32_t>(i / per_block);
    const float expected =
        kind_ == Kind::all_to_all
            ? value(mesh_.rank() * per_block + i % per_block, sender)
            : static_cast<float>(i % kPeriod) * static_cast<float>(n) + static_cast<float>(n * (n - 1) / 2);
    found += floats(from)[i] != expected;
  }
  return found;
}

std::size_t Operation::segment(std::size_t total, std::uint32_t most) const {
  const std::size_t least = (total / most + sizeof(float)) / sizeof(float) * sizeof(float);
  return std::max(least, std::min(kLeastSegment, total));
}

void Operation::add(std::size_t to, std::size_t from, std::size_t bytes) {
  float* sum = floats(to);
  const float* term = floats(from);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) sum[i] += term[i];
}

Status Operation::run() {
  Status done = Done{};
  if (mesh_.ranks() > 1 || kind_ == Kind::all_to_all) {
    done = kind_ == Kind::ring_all_reduce   ? run_ring()
           : kind_ == Kind::tree_all_reduce ? run_tree()
                                            : run_all_to_all();
  }
  parity_ = 1 - parity_;
  return done;
}

// Block b travels round the ring twice: first collecting, into the areas, then complete, into the buffers.
// Whatever arrives is sent on at once, segment by segment.
Status Operation::run_ring() {
  const std::uint32_t n = mesh_.ranks(), me = mesh_.rank(), right = (me + 1) % n, left = (me + n - 1) % n;
  const std::uint32_t steps = 2 * (n - 1);
  const std::size_t part = segment(block_, Mesh::kTags / 2 / steps - 2);
  const auto segments = static_cast<std::uint32_t>((block_ + part - 1) / part);
  const auto send = [&](std::uint32_t step, std::uint32_t s) {
    const std::size_t block = (me + 2 * n - step) % n, offset = s * part;
    const std::size_t from = block * block_ + offset;
    const std::size_t to = step < n - 1 ? area() + step * block_ + offset : from;
    return mesh_.write(right, from, to, std::min(part, block_ - offset), tag(step * segments + s));
  };
  for (std::uint32_t s = 0; s < segments; ++s) {
    if (auto sent = send(0, s); !sent) return sent;
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t s = 0; s < segments; ++s) {
      if (auto came = mesh_.wait(left, tag(step * segments + s)); !came) return came;
      const std::size_t offset = s * part, block = (left + 2 * n - step) % n;
      if (step < n - 1)
        add(block * block_ + offset, area() + step * block_ + offset, std::min(part, block_ - offset));
      if (step + 1 == steps) continue;
      if (auto sent = send(step + 1, s); !sent) return sent;
    }
  }
  return Done{};
}

// Rank r's children are 2r+1 and 2r+2: sums go up to rank 0, the total comes down.
Status Operation::run_tree() {
  const std::size_t part = segment(bytes(), Mesh::kTags / 8);
  const auto segments = static_cast<std::uint32_t>((bytes() + part - 1) / part);
  if (auto up = reduce_up(segments); !up) return up;
  return pass_down(segments);
}

Status Operation::reduce_up(std::uint32_t segments) {
  const std::uint32_t n = mesh_.ranks(), me = mesh_.rank(), parent = (me - 1) / 2;
  const std::size_t part = segment(bytes(), Mesh::kTags / 8);
  for (std::uint32_t s = 0; s < segments; ++s) {
    const std::size_t at = s * part, size = std::min(part, bytes() - at);
    for (std::uint32_t side = 0; side < 2; ++side) {
      const std::uint32_t child = 2 * me + 1 + side;
      if (child >= n) continue;
      if (auto came = mesh_.wait(child, tag(s)); !came) return came;
      add(at, area() + side * bytes() + at, size);
    }
    if (me == 0) continue;
    const std::size_t side = (me - 1) % 2;
    if (auto sent = mesh_.write(parent, at, area() + side * bytes() + at, size, tag(s)); !sent) return sent;
  }
  return Done{};
}

Status Operation::pass_down(std::uint32_t segments) {
  const std::uint32_t n = mesh_.ranks(), me = mesh_.rank();
  const std::size_t part = segment(bytes(), Mesh::kTags / 8);
  for (std::uint32_t s = 0; s < segments; ++s) {
    const std::size_t at = s * part, size = std::min(part, bytes() - at);
    if (me != 0) {
      if (auto came = mesh_.wait((me - 1) / 2, tag(segments + s)); !came) return came;
    }
    for (std::uint32_t child = 2 * me + 1; child <= 2 * me + 2 && child < n; ++child) {
      if (auto sent = mesh_.write(child, at, at, size, tag(segments + s)); !sent) return sent;
    }
  }
  return Done{};
}

Status Operation::run_all_to_all() {
  const std::uint32_t n = mesh_.ranks(), me = mesh_.rank();
  std::memcpy(mesh_.memory() + area() + me * block_, mesh_.memory() + me * block_, block_);
  for (std::uint32_t i = 1; i < n; ++i) {  // everybody begins with another peer
    const std::uint32_t to = (me + i) % n;
    if (auto sent = mesh_.write(to, to * block_, area() + me * block_, block_, tag(0)); !sent) return sent;
  }
  for (std::uint32_t i = 1; i < n; ++i) {
    if (auto came = mesh_.wait((me + n - i) % n, tag(0)); !came) return came;
  }
  return Done{};
}

}  // namespace mrc::collective
