#include "pair/stream.h"

namespace mrc::pair {

void Record::on_event(const engine::Event& e) {
  if (const auto* s = std::get_if<engine::PacketSent>(&e.body)) {
    if (keep) sent.push_back({e.when, s->psn, s->slot, s->repair});
    if (watch && s->repair && s->psn == *watch && !repaired) repaired = e.when;
  } else if (const auto* a = std::get_if<engine::PacketAcked>(&e.body)) {
    if (watch && !evidence && a->psn.after(*watch)) evidence = e.when;
  } else if (const auto* c = std::get_if<engine::PathChanged>(&e.body)) {
    changes.emplace_back(e.when, *c);
  }
}

Stream::Stream(const PairConfig& config, std::uint32_t message)
    : config_(config), message_(message), pair_(config, &record_) {}

void Stream::refill() {
  while (true) {
    const auto offset = static_cast<std::uint32_t>(posted_ * message_ % (config_.memory - message_ + 1));
    if (pair_.write(0, posted_, offset, message_).error != 0) return;
    ++posted_;
  }
}

void Stream::run(Duration d) {
  const Time end = pair_.now() + d;
  while (pair_.now() < end) {
    refill();
    const std::size_t done = pair_.side(0).completions.size();
    pair_.run_until([&] { return pair_.now() >= end || pair_.side(0).completions.size() > done + 16; }, d);
    pair_.side(0).completions.clear();
  }
}

double Stream::rate(Duration d) {
  const std::uint64_t before = placed();
  const Time start = pair_.now();
  run(d);
  return static_cast<double>(placed() - before) * 1000 / static_cast<double>((pair_.now() - start).count());
}

Duration Stream::settled_after(double wanted, Duration bin, Duration horizon) {
  const Time start = pair_.now();
  Duration settled{0};
  while (pair_.now() - start < horizon) {
    if (rate(bin) < wanted) settled = pair_.now() - start;
  }
  return settled;
}

}  // namespace mrc::pair
