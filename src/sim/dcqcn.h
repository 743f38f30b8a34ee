// DCQCN at the sender of one QP: a rate that notifications cut and that time and bytes bring back.
#pragma once

#include <cstdint>

#include "sim/roce_settings.h"

namespace mrc::sim {

class Dcqcn {
 public:
  /// Begins at line rate, as RoCEv2 NICs do.
  Dcqcn(const DcqcnSettings& settings, double line_rate);

  /// A CNP came: the present rate becomes the target, and alpha says how much of it goes.
  void on_cnp(Ps now);
  void on_send(Ps now, std::uint32_t bytes);
  /// Bits per second, brought up to `now`.
  double rate(Ps now);
  double alpha() const { return alpha_; }
  double target() const { return target_; }

 private:
  void advance(Ps now);
  void increase();

  const DcqcnSettings* settings_;
  double line_rate_, rate_, target_;
  double alpha_ = 1;
  bool limited_ = false;  // a CNP has ever come: before that there is nothing to recover
  Ps alpha_due_ = 0, rate_due_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t time_stage_ = 0, byte_stage_ = 0;
};

}  // namespace mrc::sim
