#include "sim/roce_qp.h"

#include <algorithm>

#include "base/check.h"

namespace mrc::sim {

void RoceSender::post(Ps now, RocePart part) {
  if (una_ == end_) progress_at_ = now;
  part.first = end_;
  part.packets = static_cast<std::uint32_t>(std::max<std::uint64_t>((part.bytes + mtu_ - 1) / mtu_, 1));
  end_ += part.packets;
  parts_.push_back(part);
}

const RocePart& RoceSender::part_of(std::uint32_t psn) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), psn,
                                      [](std::uint32_t p, const RocePart& part) { return p < part.first; });
  MRC_CHECK(after != parts_.begin());
  return *(after - 1);
}

RoceSender::Sent RoceSender::send(Ps now) {
  const RocePart& part = part_of(next_);
  const std::uint32_t index = next_ - part.first;
  Sent out;
  out.packet.psn = next_;
  out.packet.ends = index + 1 == part.packets;
  out.packet.payload =
      static_cast<std::uint16_t>(std::min<std::uint64_t>(mtu_, part.bytes - std::uint64_t{index} * mtu_));
  out.packet.sequence = part.sequence;
  out.packet.tag = part.tag;
  out.packet.parts = part.parts;
  out.repair = next_ < highest_;
  ++count_.packets;
  count_.repairs += out.repair;
  ++next_;
  highest_ = std::max(highest_, next_);
  const std::uint32_t bytes = roce_frame_bytes(out.packet);
  const double rate = settings_.dcqcn ? dcqcn_.rate(now) : line_rate_;
  ready_at_ = std::max(ready_at_, now) + static_cast<Ps>(bytes * 8e12 / rate);
  if (settings_.dcqcn) dcqcn_.on_send(now, bytes);
  return out;
}

void RoceSender::on_ack(Ps now, std::uint32_t psn) {
  if (psn <= una_ || psn > end_) return;
  una_ = psn;
  next_ = std::max(next_, una_);
  progress_at_ = now;
  tries_ = 0;
}

void RoceSender::on_nak(Ps now, std::uint32_t psn) {
  on_ack(now, psn);
  if (psn != una_) return;
  ++count_.losses;
  next_ = una_;  // everything from there again
}

std::optional<RocePart> RoceSender::poll_done() {
  if (parts_.empty() || parts_.front().first + parts_.front().packets > una_) return std::nullopt;
  const RocePart done = parts_.front();
  parts_.pop_front();
  return done;
}

std::optional<RocePart> RoceSender::poll_lost() {
  if (!failed_ || parts_.empty()) return std::nullopt;
  const RocePart lost = parts_.front();
  parts_.pop_front();
  return lost;
}

void RoceSender::handle_timeout(Ps now) {
  if (timeout_at() > now) return;
  progress_at_ = now;
  ++count_.losses;
  next_ = una_;
  failed_ = ++tries_ > settings_.retries;
}

RoceReceiver::Verdict RoceReceiver::on_data(Ps now, const RocePacket& packet, bool marked) {
  Verdict out;
  out.notify = marked && (!notified_ || now - last_cnp_ >= settings_.cnp_interval);
  if (out.notify) {
    notified_ = true;
    last_cnp_ = now;
  }
  if (packet.psn > expected_) {
    if (!nak_sent_) out.answer = RocePacket::Kind::nak;  // once per hole
    nak_sent_ = true;
    return out;
  }
  if (packet.psn < expected_) {
    out.answer = RocePacket::Kind::ack;
    return out;
  }
  ++expected_;
  nak_sent_ = false;
  out.accepted = true;
  if (!packet.ends && ++unacknowledged_ < settings_.ack_every) return out;
  unacknowledged_ = 0;
  out.answer = RocePacket::Kind::ack;
  return out;
}

}  // namespace mrc::sim
