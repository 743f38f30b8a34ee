// One end of a measurement: device, memory, completion queue, queue pairs, and the connection to the other
// end.
#pragma once

#include <mrc.h>
#include <openmrc/connect.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "tools/perf.h"

namespace mrc::tools {

/// What each end tells the other beside the queue pairs.
struct PerfTerms {
  std::uint64_t va = 0;
  std::uint32_t rkey = 0;
  std::uint32_t qps = 0, depth = 0, none = 0;
  std::uint64_t size = 0, places = 0;
  std::uint8_t latency = 0, imm = 0, verify = 0, revision = 0;
  std::uint32_t none_either = 0;
};
// Its bytes leave this process: a gap between two values would carry what was in memory before.
static_assert(std::has_unique_object_representations_v<PerfTerms>);

class PerfSide {
 public:
  /// Opens the device that has `address` (or that the options name).
  static Result<std::unique_ptr<PerfSide>> open(const PerfOptions& options, const std::string& address);
  ~PerfSide();

  Status accept(openmrc_listener* listener);
  Status connect();
  /// A barrier with the peer; numbers go along.
  Status exchange(std::span<const double> ours, std::span<double> theirs);
  /// The peer has said something or has gone.
  bool peer_waits() const;
  void close();

  std::uint8_t* slot(std::uint32_t qp, std::uint32_t i) { return memory_ + place(qp, i) * stride_; }
  std::uint64_t peer_slot(std::uint32_t qp, std::uint32_t i) const {
    return peer_.va + place(qp, i) * stride_;
  }
  /// One write of a whole slot to a slot of the peer's.
  int post(std::uint32_t qp, std::uint32_t from, std::uint32_t to, bool signaled);
  int post_receives(std::uint32_t qp, std::uint32_t count);
  /// An immediate that finds no receive ends its QP, so the peer says how many it is ready for, since the
  /// beginning: grant() there becomes granted() here. A grant completes as a write does.
  std::uint64_t granted(std::uint32_t qp) const {
    return *static_cast<const volatile std::uint64_t*>(grants() + qp);
  }
  int grant(std::uint32_t qp, std::uint64_t immediates);
  int poll(std::span<ibv_wc> out) { return mrc_poll_cq(cq_, static_cast<int>(out.size()), out.data()); }
  lib::DeviceCounters counters() const;
  /// How the planes stand, when one of them carries nothing now; else empty.
  std::string lame_planes() const;
  std::uint32_t mtu() const;
  const PerfOptions& options() const { return options_; }

 private:
  explicit PerfSide(const PerfOptions& options);
  std::size_t place(std::uint32_t qp, std::uint32_t i) const {
    return (std::size_t{qp} * depth_ + i) % places_;
  }
  std::uint64_t* grants() const { return reinterpret_cast<std::uint64_t*>(memory_ + places_ * stride_); }
  Status make();
  openmrc_params params() const;
  PerfTerms terms() const;
  Status check_peer();

  PerfOptions options_;
  std::uint32_t depth_;
  std::size_t stride_;
  std::size_t places_ = 1;  // slots that there are; writes beyond them share
  std::size_t bytes_ = 0;
  std::uint8_t* memory_ = nullptr;
  ibv_context* verbs_ = nullptr;
  mrc_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  mrc_cq* cq_ = nullptr;
  std::vector<mrc_qp*> qps_;
  openmrc_connection* connection_ = nullptr;
  PerfTerms peer_;
  std::uint8_t gid_index_ = 3;
};

}  // namespace mrc::tools
