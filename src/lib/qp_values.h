// Are the values of a QP change within bounds? Which of them belong to the transition is another question.
#pragma once

#include "lib/qp_transition.h"

namespace mrc::lib {

inline constexpr int kMaxTimeout = 24;  // 1.024 us * 2^24 = 17 s
inline constexpr int kMaxLinear = 7;
inline constexpr int kMaxExponential = 25;  // for ever
inline constexpr int kMaxVerbsRetry = 7;
inline constexpr int kMaxVerbsTimeout = 31;
// Verbs promise only a lower bound. Below 4.2 ms a host that is busy for a moment would look like one that is
// gone.
inline constexpr int kLeastVerbsTimeout = 12;

/// 0 or EINVAL.
int check_verbs_values(const ibv_qp_attr& attr, int mask, const QpRecord& record,
                       const QpSurroundings& around);
int check_mrc_values(const mrc_qp_attr& attr, int mask, const Limits& limits);

}  // namespace mrc::lib
