#include "sim/dcqcn.h"

#include <algorithm>

namespace mrc::sim {

Dcqcn::Dcqcn(const DcqcnSettings& settings, double line_rate)
    : settings_(&settings), line_rate_(line_rate), rate_(line_rate), target_(line_rate) {}

void Dcqcn::on_cnp(Ps now) {
  advance(now);
  target_ = rate_;
  rate_ = std::max(rate_ * (1 - alpha_ / 2), settings_->min_rate);
  alpha_ = (1 - settings_->g) * alpha_ + settings_->g;
  limited_ = true;
  alpha_due_ = now + settings_->alpha_timer;
  rate_due_ = now + settings_->rate_timer;
  bytes_ = 0;
  time_stage_ = byte_stage_ = 0;
}

void Dcqcn::on_send(Ps now, std::uint32_t bytes) {
  if (!limited_) return;
  advance(now);
  bytes_ += bytes;
  if (bytes_ < settings_->rate_bytes) return;
  bytes_ = 0;
  ++byte_stage_;
  increase();
}

double Dcqcn::rate(Ps now) {
  if (limited_) advance(now);
  return rate_;
}

// Timers are looked at when somebody asks: what happened at their times does not depend on that.
void Dcqcn::advance(Ps now) {
  while (limited_ && std::min(alpha_due_, rate_due_) <= now) {
    if (alpha_due_ <= rate_due_) {
      alpha_ *= 1 - settings_->g;
      alpha_due_ += settings_->alpha_timer;
    } else {
      ++time_stage_;
      rate_due_ += settings_->rate_timer;
      increase();
      if (rate_ >= line_rate_ && target_ >= line_rate_)
        limited_ = alpha_ > 1e-3;  // recovered: only alpha fades
    }
  }
}

// Fast recovery halves the distance to the former rate; then the target itself grows, slowly while only one
// of the two counters is past the fast stages, and fast when both are.
void Dcqcn::increase() {
  const std::uint32_t fast = settings_->fast_stages;
  if (std::min(time_stage_, byte_stage_) > fast) {
    target_ += settings_->hyper * (std::min(time_stage_, byte_stage_) - fast);
  } else if (std::max(time_stage_, byte_stage_) > fast) {
    target_ += settings_->additive;
  }
  target_ = std::min(target_, line_rate_);
  rate_ = std::min((target_ + rate_) / 2, line_rate_);
  if (line_rate_ - rate_ < 1) rate_ = line_rate_;
}

}  // namespace mrc::sim
