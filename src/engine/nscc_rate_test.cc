// The maximum window of a sender that does not know how fast its link is.
#include <gtest/gtest.h>

#include "engine/nscc.h"
#include "engine/nscc_testing.h"

namespace mrc::engine::testing {
namespace {

/// 400 Gb/s and 10 us by the profile; what is measured is something else.
struct Learner : Sender {
  explicit Learner(std::uint32_t queue = 200'000) : Sender(config(queue)) {
    send();
    cc.on_sack(now, {.newly = kMtu, .rtt = 60us});  // the first packet finds no queue
  }
  static NsccConfig config(std::uint32_t queue) {
    NsccConfig c = default_nscc({400'000'000'000, 10us, kMtu, false});
    c.learn_base_rtt = true;
    c.learn_queue = queue;
    return c;
  }
  /// For a while, the window is kept full over a link of `bytes_per_us` and a round trip of 60 us at least.
  void run(Duration time, std::uint64_t bytes_per_us) {
    for (const Time end = now + time; now < end;) {
      while (cc.may_send(kMtu)) send();
      wait(20us);
      const auto queued = Duration(cc.in_flight() * 1000 / static_cast<std::int64_t>(bytes_per_us));
      cc.on_sack(now, {.newly = 20 * bytes_per_us, .rtt = std::max<Duration>(60us, queued)});
    }
  }
};

// MRC-CC-024
TEST(NsccRate, TheMaximumFollowsTheRateMeasured) {
  Learner s;
  EXPECT_EQ(s.cc.max_window(), 750'000u);
  s.run(200ms, 500);  // 4 Gb/s
  EXPECT_NEAR(static_cast<double>(s.cc.max_window()), 500 * (90 + 200), 500 * 290 * 0.1);
  EXPECT_LE(s.window(), s.cc.max_window());
  s.run(200ms, 250);
  EXPECT_NEAR(static_cast<double>(s.cc.max_window()), 250 * (90 + 200), 250 * 290 * 0.1);
}

// MRC-CC-024: a window that is just what the rate needs would hide that there is more.
TEST(NsccRate, ALinkThatGetsFasterIsNoticed) {
  Learner s;
  s.run(200ms, 250);
  ASSERT_LT(s.cc.max_window(), 100'000u);
  s.run(50ms, 2000);
  EXPECT_NEAR(static_cast<double>(s.cc.max_window()), 2000 * 290, 2000 * 290 * 0.15);
}

// MRC-CC-024
TEST(NsccRate, WhoHasLittleToSendLearnsNothing) {
  Learner s;
  s.run(200ms, 500);
  const auto before = s.cc.max_window();
  for (int i = 0; i < 10'000; ++i) {
    s.wait(100us);
    s.cc.on_settled(s.now, s.cc.in_flight());
    s.send();
    s.cc.on_sack(s.now, {.newly = kMtu, .rtt = 60us});
  }
  EXPECT_EQ(s.cc.max_window(), before);
}

// MRC-CC-024
TEST(NsccRate, TheMaximumStaysWhereNothingIsToBeLearnt) {
  Learner s(0);
  s.run(100ms, 500);
  EXPECT_EQ(s.cc.max_window(), 750'000u);
}

TEST(NsccRate, ASlowLinkKeepsRoomForBursts) {
  Learner s;
  s.run(300ms, 1);
  EXPECT_EQ(s.cc.max_window(), 16 * kMtu);
}

}  // namespace
}  // namespace mrc::engine::testing
