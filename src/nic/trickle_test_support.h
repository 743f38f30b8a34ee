// Collectives on late hosts: many QPs, each a few packets now and then, answers that take long at times.
#pragma once

#include <gtest/gtest.h>

#include "nic/testing.h"

namespace mrc::nic::testing {

struct Trickle {
  struct Manner {
    int qps;
    Duration usual, late;  // one way; one round of twenty is late
    std::uint32_t seldom;  // a QP writes in one round of so many
  };
  static constexpr std::uint32_t kBytes = 4096;

  Trickle(Pair& on, const Manner& how) : pair(on), manner(how) {
    QpSend send;
    send.requestor.suspect_slack = 1ms;
    QpConnect like;
    like.path_settings.spray_unit = 8;
    for (int i = 0; i < how.qps; ++i) qps.push_back(&pair.connect(like, send).a);
  }
  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      pair.delay = prng.below(20) == 0 ? manner.late : manner.usual;
      for (Qp* qp : qps) {
        if (prng.below(manner.seldom) != 0) continue;
        EXPECT_EQ(pair.write(*qp, 0, kBytes, 4 * kBytes), 0);
        ++posted;
      }
      pair.run(1ms, 1ms);
      completed += pair.a.poll().size();
    }
  }
  /// Everything is healed, and everything that was posted completes.
  void expect_all_complete() {
    pair.filter = nullptr;
    pair.run(2s, 20ms);
    EXPECT_EQ(completed + pair.a.poll().size(), posted);
  }

  Pair& pair;
  Manner manner;
  std::vector<Qp*> qps;
  Prng prng{3};
  std::size_t posted = 0, completed = 0;
};

}  // namespace mrc::nic::testing
