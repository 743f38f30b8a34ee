// [[fault]] and [random_faults]: what goes wrong, and when.
#include "scenario/sections.h"

namespace mrc::scenario {
namespace {

constexpr Choice<sim::FaultKind> kKinds[] = {{"down", sim::FaultKind::down},
                                             {"black_hole", sim::FaultKind::black_hole},
                                             {"one_way", sim::FaultKind::one_way},
                                             {"lossy", sim::FaultKind::lossy},
                                             {"slow", sim::FaultKind::slow}};
constexpr Choice<AnyLink> kAny[] = {
    {"host", AnyLink::host}, {"t0_t1", AnyLink::t0_t1}, {"t1_t2", AnyLink::t1_t2}};

void read_targets(TableReader& r, FaultSpec& f) {
  std::string one;
  r.text("target", one);
  if (!one.empty()) f.targets.push_back(one);
  r.strings("targets", f.targets);
  r.choice("any", f.any, kAny);
  if (f.targets.empty() == (f.any == AnyLink::none))
    r.complain("needs either 'target' (or 'targets'), or 'any' with 'count' or 'part'");
  if (f.any == AnyLink::none) return;
  r.number("count", f.count, 1);
  r.real("part", f.part, 0, 1);
  r.number("width", f.width, 1, 64);
  if (r.has("count") == r.has("part")) r.complain("needs 'count' or 'part' of the links to draw, not both");
}

void read_times(TableReader& r, FaultSpec& f) {
  sim::Ps lasts = 0;
  r.time("at", f.fault.at);
  r.time("until", f.fault.until, 1);
  r.time("for", lasts, 1);
  if (r.has("for") && r.has("until")) r.complain("for", "and 'until' say the same; leave one out");
  if (lasts > 0) f.fault.until = f.fault.at + lasts;
  r.time("every", f.fault.every, 1);
  r.number("times", f.fault.times, 1, 1'000'000);
  r.time("spacing", f.spacing);
  if (r.has("every") && !r.has("times")) r.complain("every", "says how often; say also how many 'times'");
}

}  // namespace

void read_fault(TableReader& r, Scenario& s) {
  FaultSpec f;
  f.place = r.place();
  r.choice("kind", f.fault.kind, kKinds);
  if (!r.has("kind")) r.complain("has no 'kind'; say one of down, black_hole, one_way, lossy, slow");
  read_targets(r, f);
  read_times(r, f);
  r.real("amount", f.fault.amount, 0, 1);
  const bool lossy = f.fault.kind == sim::FaultKind::lossy;
  if (!r.has("amount") && lossy) r.complain("has no 'amount'; say a loss between 0 and 1");
  if (r.has("amount") && !lossy && f.fault.kind != sim::FaultKind::slow)
    r.complain("amount", "has no meaning for this kind; lossy and slow have one");
  if (lossy && f.fault.amount == 0) return;  // a sweep's case without loss
  s.faults.push_back(std::move(f));
}

void read_random_faults(TableReader& r, Scenario& s) {
  sim::FaultRates& rates = s.fault_rates;
  s.rates_place = r.place();
  rates.seed = s.world.hosts.seed;
  r.real("flaps_per_link_hour", rates.flaps_per_link_hour, 0, 1e12);
  r.time("flap_length", rates.flap_length, 1);
  r.real("failures_per_link_hour", rates.failures_per_link_hour, 0, 1e12);
  r.time("over", rates.over, 1);
  r.number("seed", rates.seed);
  if (rates.over == 0) r.complain("has no 'over'; say during which time, such as over = \"10ms\"");
  if (rates.flaps_per_link_hour > 0 && rates.flap_length == 0)
    r.complain("has flaps without a 'flap_length'; say one, such as flap_length = \"100us\"");
}

}  // namespace mrc::scenario
