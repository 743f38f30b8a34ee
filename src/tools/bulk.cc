#include "tools/bulk.h"

#include <sys/socket.h>

#include <cerrno>

#include "tools/bulk_side.h"
#include "tools/real_time.h"

namespace mrc::tools {
namespace {

constexpr Duration kSampleEvery = 50ms;
constexpr Duration kPatience = 30s;  // for what was sent to arrive, after the watcher has had enough

/// The last word: how many messages there were.
struct Total {
  std::uint64_t messages = 0;
};

/// Posts what credit allows; false when the device refused.
bool post_more(BulkSide& side, const BulkSettings& settings, std::uint64_t& next) {
  while (next < side.credit() + settings.slots && (settings.messages == 0 || next < settings.messages)) {
    fill_pattern(next, side.slot(next));
    const int error = side.post_message(next);
    if (error == ENOMEM) return true;
    if (error != 0) return false;
    ++next;
  }
  return true;
}

bool rests(const BulkSettings& settings) { return settings.rests || settings.real_time; }

Error not_all_arrived(BulkSide& side, std::uint64_t sent) {
  return {ETIMEDOUT,
          "after half a minute not all of " + std::to_string(sent) + " messages are done: " + side.account()};
}

}  // namespace

Result<BulkSample> send_bulk(int channel, const BulkSettings& settings, const BulkWatcher& watch) {
  if (settings.real_time) go_first();
  auto side = BulkSide::open(settings);
  if (!side) return side.error();
  if (auto connected = (*side)->connect(channel); !connected) return connected.error();
  std::uint64_t next = 0;
  bool more = true;
  Time look = lib::steady_now(), looked = look, give_up = kNever;
  while (more || (*side)->credit() < next || (*side)->sample().messages < next) {
    if (more && !post_more(**side, settings, next)) return Error{EIO, "the device refuses to send"};
    if (!(*side)->poll([] {}) && rests(settings)) rest_a_moment();
    const Time now = lib::steady_now();
    if (more && settings.messages != 0 && next == settings.messages) more = false, give_up = now + kPatience;
    BulkSample& sample = (*side)->sample();
    sample.late_ns = std::max({sample.late_ns, (now - looked).count(), (*side)->peer_late_ns()});
    looked = now;
    if (now > give_up) return not_all_arrived(**side, next);
    if (sample.failed > 0) break;
    if (now < look) continue;
    look = now + kSampleEvery;
    const bool wanted = watch((*side)->take_sample());
    if (more && !wanted) give_up = now + kPatience;
    more = more && wanted;
    sample.longest_gap_ns = sample.late_ns = 0;
  }
  const Total total{next};
  (void)::send(channel, &total, sizeof total, MSG_NOSIGNAL);
  Total acknowledged;  // the receiver's last credit must have left its device before ours goes
  (void)::recv(channel, &acknowledged, sizeof acknowledged, MSG_WAITALL);
  return (*side)->take_sample();
}

Result<BulkSample> receive_bulk(int channel, const BulkSettings& settings) {
  if (settings.real_time) go_first();
  auto opened = BulkSide::open(settings);
  if (!opened) return opened.error();
  BulkSide& side = **opened;
  if (auto connected = side.connect(channel, settings.slots * 2); !connected) return connected.error();
  std::uint64_t taken = 0, told = 0;
  Time looked = lib::steady_now();
  std::int64_t late_ns = 0;
  const auto take = [&] {
    if (!is_pattern(taken, side.slot(taken))) ++side.sample().corrupt;
    ++taken;
    side.post_receive();
  };
  for (Total total;;) {
    if (!side.poll(take) && rests(settings)) rest_a_moment();
    const Time now = lib::steady_now();
    late_ns = std::max(late_ns, (now - std::exchange(looked, now)).count());
    if (taken != told && side.post_credit(taken, late_ns) == 0) told = taken, late_ns = 0;
    const ssize_t n = ::recv(channel, &total, sizeof total, MSG_DONTWAIT);
    if (n == 0) return Error{EPIPE, "the sender is gone; " + side.account()};
    if (n == sizeof total) {
      (void)::send(channel, &total, sizeof total, MSG_NOSIGNAL);
      break;
    }
  }
  side.sample().messages = taken;
  side.sample().bytes = taken * settings.message_bytes;
  return side.take_sample();
}

}  // namespace mrc::tools
