// QP numbers: a number names one QP for its whole life and is not used again soon, so that a packet that was
// long under way meets nobody instead of somebody else.
#pragma once

#include <cstdint>
#include <memory>

#include "base/fixed_array.h"
#include "nic/qp.h"
#include "nic/settings.h"

namespace mrc::nic {

class QpTable {
 public:
  QpTable(std::uint32_t capacity, QpnSpan span);

  /// nullptr when every place is taken.
  Qp* create(const QpCreate& create);
  void destroy(Qp& qp);
  Qp* find(Qpn qpn) const {
    Qp* qp = slots_[(qpn.value - span_.first.value) & mask_].qp.get();
    return qp != nullptr && qp->qpn == qpn ? qp : nullptr;
  }
  /// Who has the number's place, if anybody: without a look at the QP itself.
  const Qp* guess(Qpn qpn) const { return slots_[(qpn.value - span_.first.value) & mask_].qp.get(); }
  std::uint32_t size() const { return size_; }
  template <class Each>
  void for_each(Each&& each) {
    for (Slot& slot : slots_) {
      if (slot.qp != nullptr) each(*slot.qp);
    }
  }

 private:
  struct Slot {
    std::unique_ptr<Qp> qp;
    std::uint32_t generation = 0;
  };
  std::uint32_t generations() const { return (span_.last.value - span_.first.value + 1) / (mask_ + 1); }

  QpnSpan span_;
  std::uint32_t mask_;
  std::uint32_t size_ = 0;
  std::uint32_t cursor_ = 0;  // where to look for a free place: the one longest unused
  FixedArray<Slot> slots_;
};

}  // namespace mrc::nic
