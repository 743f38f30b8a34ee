// What can be wrong with a requestor's congestion control, one defect at a time.
#include <algorithm>

#include "twin.h"

namespace mrc::conform {
namespace {

using engine::Congestion;
using Feedback = Congestion::Feedback;

constexpr Duration kBase = 80ms, kTarget = 60ms;  // of the checks, with the settings that tests have

class Misled final : public Congestion {
 public:
  Misled(std::unique_ptr<Congestion> inner, const Defect& defect)
      : inner_(std::move(inner)), defect_(defect) {}
  void on_send(Time now, std::uint32_t bytes) override { inner_->on_send(now, bytes); }
  void on_sack(Time now, const Feedback& told) override {
    Feedback f = told;
    if (defect_.feedback) defect_.feedback(f);
    inner_->on_sack(now, f);
  }
  void on_trim(Time now, std::uint32_t bytes, bool last_hop) override {
    defect_.deaf_to_trims ? inner_->on_settled(now, bytes) : inner_->on_trim(now, bytes, last_hop);
  }
  void on_loss(Time now, std::uint32_t bytes) override { inner_->on_loss(now, bytes); }
  void on_settled(Time now, std::int64_t bytes) override { inner_->on_settled(now, bytes); }
  void on_hints(const engine::CongestionHints& hints) override { inner_->on_hints(hints); }
  bool may_send(std::uint32_t bytes) const override { return inner_->may_send(bytes); }
  Time next_send() const override { return inner_->next_send(); }
  std::uint64_t window() const override { return inner_->window(); }
  std::int64_t in_flight() const override { return inner_->in_flight(); }

 private:
  std::unique_ptr<Congestion> inner_;
  Defect defect_;
};

bool is_late(const Feedback& f) { return f.rtt && *f.rtt >= kBase + kTarget; }

}  // namespace

std::unique_ptr<Congestion> misled(std::unique_ptr<Congestion> inner, const Defect& defect) {
  return std::make_unique<Misled>(std::move(inner), defect);
}

std::vector<Defect> congestion_defects() {
  return {
      {.name = "twice the window",
       .check = "congestion_window",
       .adjust = [](auto&, auto&, Terms& t) { t.congestion.window *= 2; }},
      {.name = "marks do not slow it down",
       .check = "congestion_marks",
       .feedback = [](Feedback& f) { f.ecn = f.ecn && !is_late(f); }},
      {.name = "a mark alone slows it down",
       .check = "congestion_mark_alone",
       .feedback =
           [](Feedback& f) {
             if (f.ecn && !f.restore) f.rtt = kBase + 2 * kTarget;
           }},
      {.name = "never grows",
       .check = "congestion_grows",
       .feedback = [](Feedback& f) { f.ecn = f.ecn || !is_late(f); }},
      {.name = "trims cost nothing", .check = "congestion_trims", .deaf_to_trims = true},
      {.name = "ignores the penalty",
       .check = "congestion_penalty",
       .feedback = [](Feedback& f) { f.penalty = 0; }},
      {.name = "penalised for ever",
       .check = "congestion_restore",
       .feedback = [](Feedback& f) { f.restore = false; }},
      {.name = "keeps the base rtt",
       .check = "congestion_base_rtt",
       .feedback = [](Feedback& f) { f.rtt = std::max(f.rtt.value_or(kBase), Duration(kBase)); }},
  };
}

}  // namespace mrc::conform
