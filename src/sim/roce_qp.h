// One QP of the RoCEv2 baseline, both halves: go-back-N, and a rate from DCQCN.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/dcqcn.h"
#include "sim/flow_log.h"
#include "sim/roce_packet.h"

namespace mrc::sim {

/// A message's part on one QP.
struct RocePart {
  std::uint32_t sending = 0;  // whose message, for the host
  std::uint32_t sequence = 0, tag = 0;
  std::uint16_t parts = 0;
  std::uint64_t bytes = 0;
  std::uint32_t first = 0, packets = 0;  // PSNs
};

/// The sending half. In order, and from the first hole again when there is one.
class RoceSender {
 public:
  RoceSender(const RoceSettings& settings, std::uint32_t mtu, double line_rate)
      : settings_(settings), mtu_(mtu), line_rate_(line_rate), dcqcn_(settings.rate, line_rate) {}

  void post(Ps now, RocePart part);
  bool has_work() const { return !failed_ && next_ != end_; }
  bool outstanding() const { return !failed_ && una_ != end_; }
  /// When the rate lets the next packet go.
  Ps ready_at() const { return ready_at_; }

  struct Sent {
    RocePacket packet;
    bool repair = false;
  };
  /// REQUIRES: has_work(), ready_at() <= now.
  Sent send(Ps now);

  void on_ack(Ps now, std::uint32_t psn);
  void on_nak(Ps now, std::uint32_t psn);
  void on_cnp(Ps now) {
    if (settings_.dcqcn) dcqcn_.on_cnp(now);
  }
  /// Parts that are acknowledged to their end, one per call.
  std::optional<RocePart> poll_done();
  /// After a failure: parts that never will be.
  std::optional<RocePart> poll_lost();

  Ps timeout_at() const { return outstanding() ? progress_at_ + settings_.timeout : kNeverPs; }
  void handle_timeout(Ps now);
  bool failed() const { return failed_; }
  const QpCount& count() const { return count_; }
  Dcqcn& dcqcn() { return dcqcn_; }

 private:
  const RocePart& part_of(std::uint32_t psn) const;

  const RoceSettings& settings_;
  std::uint32_t mtu_;
  double line_rate_;
  Dcqcn dcqcn_;
  std::deque<RocePart> parts_;  // not yet acknowledged
  std::uint32_t una_ = 0, next_ = 0, end_ = 0, highest_ = 0;
  Ps ready_at_ = 0;
  Ps progress_at_ = 0;
  std::uint8_t tries_ = 0;
  QpCount count_;
  bool failed_ = false;
};

/// The receiving half: the expected packet or nothing.
class RoceReceiver {
 public:
  explicit RoceReceiver(const RoceSettings& settings) : settings_(settings) {}

  struct Verdict {
    bool accepted = false;
    std::optional<RocePacket::Kind> answer;  // ack or nak, of expected()
    bool notify = false;                     // a CNP too
  };
  Verdict on_data(Ps now, const RocePacket& packet, bool marked);
  std::uint32_t expected() const { return expected_; }

 private:
  const RoceSettings& settings_;
  std::uint32_t expected_ = 0;
  std::uint16_t unacknowledged_ = 0;
  bool nak_sent_ = false;
  bool notified_ = false;
  Ps last_cnp_ = 0;
};

}  // namespace mrc::sim
