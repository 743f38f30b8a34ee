#include "conform/receiver.h"

#include <algorithm>
#include <utility>

#include "engine/sizes.h"

namespace mrc::conform {
namespace {

constexpr wire::Envelope kControl{.ev = Ev(0xC0A1), .port = {}, .traffic_class = wire::TrafficClass::control};
constexpr int kSpan =
    255 * engine::kMprUnit;  // takes what a device should not send as well: the check says so

}  // namespace

Receiver::Receiver(Bench& bench) : bench_(bench), window_(bench.target().psn, kSpan) {}

std::optional<Arrival> Receiver::take(Duration within) {
  const Time deadline = bench_.now() + within;
  while (auto heard = bench_.next(deadline - bench_.now())) {
    if (loses && loses(*heard)) {
      lost_writes += heard->as<wire::Write>() != nullptr;
      continue;
    }
    if (const auto* probe = heard->as<wire::Probe>()) answer_probe(*heard, *probe);
    const auto* write = heard->as<wire::Write>();
    if (write == nullptr) continue;
    Arrival a{heard->at,   heard->psn() - bench_.target().psn,
              heard->ev(), heard->parsed.envelope.traffic_class,
              *write,      false,
              heard->plane};
    a.again = !psns_.insert(a.psn).second;
    bytes_ += engine::cc_bytes(*write);
    seen_.push_back(a);
    return a;
  }
  return std::nullopt;
}

std::vector<Arrival> Receiver::take_all(std::size_t count) {
  // Nor are probes: an answer that reports nothing as arrived would prove everything lost.
  const auto answers = std::exchange(answers_probe, [](Ev) { return false; });
  std::vector<Arrival> fresh;
  Time deadline = bench_.now() + bench_.settings().answer;
  while (fresh.size() < count) {
    const auto a = take(deadline - bench_.now());
    if (!a) break;
    if (a->again) continue;
    fresh.push_back(*a);
    deadline = bench_.now() + bench_.settings().answer;
  }
  answers_probe = answers;
  return fresh;
}

void Receiver::drain() {
  const Time deadline = bench_.now() + bench_.settings().answer;
  while (bench_.now() < deadline && take(bench_.settings().quiet)) {
  }
}

void Receiver::place(const Arrival& a) {
  const Psn psn = bench_.target().psn + a.psn;
  if (window_.accepts(psn) && !window_.is_duplicate(psn)) window_.note(psn, ends(a.write.segment));
}

wire::Sack Receiver::report(Ev ev) {
  const auto view = window_.next_view();
  return {.bitmap = view.bits,
          .entropy = ev,
          .cack_psn = window_.cack(),
          .rcvd_bytes = static_cast<std::uint32_t>((bytes_ + 255) / 256) & 0xFFFFFF,
          .sack_offset = view.offset,
          .spdcid = static_cast<std::uint16_t>(bench_.target().qpn.value),
          .dpdcid = static_cast<std::uint16_t>(bench_.terms().qpn.value),
          .ooo_count = static_cast<std::uint16_t>(window_.out_of_order())};
}

void Receiver::sack(const Arrival& trigger, wire::SackMark mark) {
  sack(trigger, [mark](wire::Sack& s) { s.mark = mark; });
}

void Receiver::sack(const Arrival& trigger, const std::function<void(wire::Sack&)>& change) {
  wire::Sack s = report(trigger.ev);
  s.ack_psn_offset = static_cast<std::int16_t>(bench_.target().psn + trigger.psn - s.cack_psn);
  s.echo = trigger.write.timestamp;
  change(s);
  bench_.send(s, s.cack_psn, bench_.target().qpn, kControl);
}

void Receiver::answer_probe(const Heard& heard, const wire::Probe& probe) {
  if (!answers_probe(heard.ev())) return;
  wire::Sack s = report(heard.ev());
  s.ack_psn_offset = static_cast<std::int16_t>(probe.probe_id);
  s.probe_reply = true;
  s.echo = probe.timestamp;
  bench_.send(s, s.cack_psn, bench_.target().qpn, kControl);
}

void Receiver::nack(const Arrival& about, wire::NackReason reason) {
  const Psn psn = bench_.target().psn + about.psn;
  bench_.send(
      wire::Nack{.entropy = about.ev, .nack_psn = psn, .echo = about.write.timestamp, .reason = reason}, psn,
      bench_.target().qpn, kControl);
}

void Receiver::acknowledge() { acknowledge(window_.messages()); }

void Receiver::acknowledge(std::uint32_t messages, wire::Syndrome syndrome) {
  bench_.send(wire::TransportAck{.msn = messages, .syndrome = syndrome}, window_.cack(), bench_.target().qpn,
              kControl);
}

std::vector<Arrival> Receiver::serve(std::size_t count, const Mark& mark) {
  std::vector<Arrival> fresh;
  Time deadline = bench_.now() + bench_.settings().answer;
  while (fresh.size() < count) {
    const auto a = take(deadline - bench_.now());
    if (!a) break;
    const std::uint32_t whole = window_.messages();
    place(*a);
    sack(*a, mark ? mark(*a) : wire::SackMark::none);
    if (window_.messages() != whole || a->again) acknowledge();
    if (a->again) continue;
    fresh.push_back(*a);
    deadline = bench_.now() + bench_.settings().answer;
  }
  return fresh;
}

std::vector<Arrival> Receiver::repeated() const {
  std::vector<Arrival> found;
  std::copy_if(seen_.begin(), seen_.end(), std::back_inserter(found),
               [](const Arrival& a) { return a.again; });
  return found;
}

}  // namespace mrc::conform
