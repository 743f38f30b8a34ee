// Which attributes a QP may be given on which transition, and within which bounds: the errno table of
// modify_qp.
//
// One function for both interfaces. Verbs QPs follow the InfiniBand table for RC strictly; MRC QPs accept
// what real programs pass (attributes that MRC has no use for are taken and ignored) and need only what MRC
// itself needs.
#pragma once

#include <infiniband/verbs.h>
#include <mrc.h>

#include "lib/device.h"

namespace mrc::lib {

enum class QpKind : std::uint8_t { rc, mrc };

/// Every attribute as last set, in the program's own terms: what a query returns.
struct QpRecord {
  ibv_qp_attr verbs{};
  mrc_qp_attr mrc{};
  bool mrc_timeout = false;       // MRC_QP_TIMEOUT was given: IBV_QP_TIMEOUT no longer counts
  bool mrc_retry = false;         // the same for MRC_QP_RETRY_CNT
  engine::CongestionHints hints;  // what the hint said when it was given
};

struct QpChange {
  const ibv_qp_attr* verbs = nullptr;
  int verbs_mask = 0;
  const mrc_qp_attr* mrc = nullptr;
  int mrc_mask = 0;
  engine::CongestionHints hints;  // of the hint that mrc names
};

/// A QP's values before anything is set.
QpRecord make_record(QpKind kind);

/// What holds for the device now; asked only when a change needs it.
class QpSurroundings {
 public:
  virtual const Limits& limits() const = 0;
  virtual int port_count() const = 0;
  virtual std::size_t gid_count(PortId port) const = 0;
  virtual ibv_mtu active_mtu(PortId port) const = 0;

 protected:
  ~QpSurroundings() = default;
};

/// Where the change leads, with `record` updated, or an errno with `record` untouched.
Result<engine::QpState> apply(QpKind kind, engine::QpState current, const QpChange& change,
                              const QpSurroundings& around, QpRecord& record);

/// Takes the attributes of a change that has been checked.
void store(const QpChange& change, QpRecord& record);

/// The record as the device wants it.
QpAttributes to_attributes(const QpRecord& record);

ibv_qp_state to_verbs(engine::QpState state);

}  // namespace mrc::lib
