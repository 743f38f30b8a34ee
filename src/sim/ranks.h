// Several processes that run one simulation: what they exchange between windows, and at the end.
//
// Each has its own part of the nodes and the memory for those alone. The model is the same as with threads:
// a frame reaches another node in a later window, so it is enough to trade frames once per window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mrc::sim {

/// Bytes that grow without being zeroed first: whoever makes room writes it.
template <class T>
struct Unwritten : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unwritten<U>;
  };
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

/// All calls are collective: every rank makes the same ones in the same order.
class Ranks {
 public:
  using Bytes = std::vector<std::byte, Unwritten<std::byte>>;
  virtual ~Ranks() = default;

  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  /// `out[r]` goes to rank r; `in` becomes what all others sent here.
  virtual void exchange(const std::vector<Bytes>& out, Bytes& in) = 0;
  virtual std::int64_t least(std::int64_t value) = 0;
  /// Each value becomes the sum over all ranks.
  virtual void add(std::span<std::int64_t> values) = 0;
  /// At rank 0: what each rank gave; elsewhere nothing.
  virtual std::vector<Bytes> gather(const Bytes& mine) = 0;
};

/// True when the process was started by mpirun with others.
bool started_by_mpirun();
/// False for the processes that leave speaking to the first.
bool speaks_for_all();
/// Joins them. The MPI library is loaded only here: it takes longer to start than a small simulation to run.
Result<std::unique_ptr<Ranks>> join_ranks();

}  // namespace mrc::sim
