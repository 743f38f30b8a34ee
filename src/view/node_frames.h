// What a mrcd tells of its node's QPs, as a frame shows them: rates between two snapshots, and paths that
// were given up or came back.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "node/facts.h"
#include "view/frame.h"

namespace mrc::view {

class NodeFrames {
 public:
  /// Which host of the fabric has an address; nothing: none.
  using HostAt = std::function<std::optional<std::uint32_t>(const node::AddressBytes&)>;
  /// Which EV of the fabric takes the way that a QP's EV takes; nothing: as it is.
  using EvAt = std::function<std::optional<Ev>(const node::ProcessFacts&, const node::EvFacts&)>;
  static constexpr std::size_t kMostQps = 64;  // of a frame

  /// Adds the QPs of `host` to the frame; those that face nobody of the fabric are left out. Events name
  /// hosts as the frame does.
  void take(node::Snapshot snapshot, std::uint32_t host, const HostAt& host_at, const EvAt& ev_at, Frame& f);

 private:
  struct Before {
    std::uint64_t bytes = 0, taken_ns = 0;
    std::uint16_t bad = 0;
    double rate = 0;
    std::uint64_t round = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // process, QPN

  double rate(Before& before, std::uint64_t bytes, std::uint64_t taken_ns) const;
  void tell_paths(Before& before, const QpFrame& qp, Frame& f) const;

  std::map<Key, Before> qps_;
  std::uint64_t round_ = 0;
};

}  // namespace mrc::view
