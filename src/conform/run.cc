#include "conform/run.h"

#include <algorithm>
#include <cerrno>

namespace mrc::conform {
namespace {

/// What the check needs and the device has not; empty when it has all.
std::string lacking(const Needs& needs, const Abilities& has) {
  std::string what;
  const auto need = [&](bool needed, bool there, const char* name) {
    if (needed && !there) what += (what.empty() ? "" : ", ") + std::string(name);
  };
  need(needs.post, has.post, "posting writes");
  need(needs.completions, has.completions, "completions");
  need(needs.memory, has.memory, "reading memory");
  need(needs.deny, has.deny, "denying an EV");
  need(needs.congestion, has.congestion, "a CC profile of the tester's choice");
  return what.empty() ? what : "needs " + what + " at the device: run `mrc conform device` there";
}

Outcome attempt(const Check& check, Bench& bench, Device& device) {
  if (check.needs.planes && bench.planes() < 2)
    return skip("needs two planes: an address of the tester and of the device on each");
  if (const std::string why = lacking(check.needs, device.abilities()); !why.empty()) return skip(why);
  if (const Status connected = bench.connect(); !connected) {
    return connected.error().code == ENOENT ? skip(connected.error().what) : fail(connected.error().what);
  }
  const Outcome outcome = check.run(bench);
  return bench.failed() ? fail("the hand on the device failed: " + bench.broken()) : outcome;
}

}  // namespace

std::string_view name(Outcome::Kind kind) {
  constexpr std::string_view kNames[] = {"pass", "fail", "skip"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(Role role) { return role == Role::responder ? "responder" : "requestor"; }

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto table :
       {format_checks(), sack_checks(), window_checks(), access_checks(), message_checks(), sending_checks(),
        repair_checks(), completion_checks(), path_checks(), congestion_checks(), plane_checks()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

int Report::count(Outcome::Kind kind) const {
  return static_cast<int>(std::count_if(results.begin(), results.end(),
                                        [&](const CheckResult& r) { return r.outcome.kind == kind; }));
}

Result<std::vector<Check>> select_checks(const Selection& selection) {
  std::vector<Check> chosen;
  const auto all = all_checks();
  for (const std::string& wanted : selection.names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Check& c) { return c.name == wanted; });
    if (found == all.end())
      return Error{ENOENT, "there is no check '" + wanted + "'; `mrc conform list` shows all"};
    chosen.push_back(*found);
  }
  if (!selection.names.empty()) return chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const Check& c) {
    return c.role == Role::responder ? selection.responder : selection.requestor;
  });
  return chosen;
}

CheckResult run_check(const Check& check, Edge& edge, Device& device, const BenchSettings& settings) {
  Bench bench(edge, device, settings);
  const Time begin = edge.now();
  CheckResult result{check, attempt(check, bench, device), {}, {}};
  result.took = edge.now() - begin;
  if (result.outcome.kind == Outcome::Kind::fail) result.capture = bench.capture();
  return result;
}

Report run_checks(const std::vector<Check>& checks, Edge& edge, Device& device, const BenchSettings& settings,
                  const std::function<void(const CheckResult&)>& done) {
  Report report;
  for (const Check& check : checks) {
    report.results.push_back(run_check(check, edge, device, settings));
    if (done) done(report.results.back());
  }
  return report;
}

}  // namespace mrc::conform
