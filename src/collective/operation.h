// One collective over a mesh: ring and tree all-reduce, all-to-all. Values are floats; all-reduce adds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collective/mesh.h"

namespace mrc::collective {

enum class Kind : std::uint8_t { ring_all_reduce, tree_all_reduce, all_to_all };
inline constexpr Kind kKinds[] = {Kind::ring_all_reduce, Kind::tree_all_reduce, Kind::all_to_all};
const char* name_of(Kind kind);
/// What a link must carry for each byte of the buffer, so that figures of different sizes of job compare.
double bus_factor(Kind kind, std::uint32_t ranks);

/// How the memory of a mesh is divided: the buffer, and two areas that peers write to in turn, since a
/// neighbour may be one operation ahead, and never two.
class Operation {
 public:
  Operation(Mesh& mesh, Kind kind, std::size_t bytes);

  /// Memory that a mesh needs for operations of at most so many bytes.
  static std::size_t memory_for(std::size_t bytes, std::uint32_t ranks);

  std::size_t bytes() const { return block_ * mesh_.ranks(); }  // of the buffer: rounded up to whole blocks
  /// REQUIRES that no peer writes: they all are behind a barrier, or come to the next one.
  void fill();
  /// Values that are not what they should be after one run on filled buffers.
  std::uint64_t wrong() const;
  Status run();

 private:
  Status run_ring();
  Status run_tree();
  Status run_all_to_all();
  Status reduce_up(std::uint32_t segments);
  Status pass_down(std::uint32_t segments);

  std::size_t area_used() const;
  std::size_t area() const { return bytes() + parity_ * 2 * bytes(); }
  std::size_t segment(std::size_t total, std::uint32_t most) const;
  std::uint32_t tag(std::uint32_t number) const { return parity_ * (Mesh::kTags / 2) + number; }
  void add(std::size_t to, std::size_t from, std::size_t bytes);
  float* floats(std::size_t at) const { return reinterpret_cast<float*>(mesh_.memory() + at); }

  Mesh& mesh_;
  Kind kind_;
  std::size_t block_;  // bytes: a whole number of floats
  std::uint32_t parity_ = 0;
};

}  // namespace mrc::collective
