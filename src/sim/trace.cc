#include "sim/trace.h"

#include <array>

namespace mrc::sim {
namespace {

using namespace engine;

constexpr std::array kStates = {"GOOD", "SKIP", "ASSUMED_BAD", "DENIED"};
constexpr std::array kLosses = {"order", "silence", "timeout", "nack"};
constexpr std::array kCauses = {"start",       "loss",   "silence",    "timeout",   "ecn",     "trim",
                                "always_skip", "probed", "controller", "port_down", "port_up", "min_active"};
constexpr std::array kQpStates = {"RESET", "INIT", "RTR", "RTS", "ERR"};

template <class Names, class Enum>
const char* named(const Names& names, Enum e) {
  const auto i = static_cast<std::size_t>(e);
  return i < names.size() ? names[i] : "?";
}

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

struct Describe {
  std::string operator()(const PacketSent& e) const {
    return format("sent psn %u on EV %u port %u, %u bytes%s", e.psn.value(), e.slot.value, e.port.value,
                  e.bytes, e.repair ? ", repair" : "");
  }
  std::string operator()(const PacketAcked& e) const {
    return format("acked psn %u on EV %u", e.psn.value(), e.slot.value);
  }
  std::string operator()(const PacketLost& e) const {
    return format("lost psn %u on EV %u by %s", e.psn.value(), e.slot.value, named(kLosses, e.cause));
  }
  std::string operator()(const PacketPlaced& e) const {
    return format("placed psn %u, %u bytes", e.psn.value(), e.bytes);
  }
  std::string operator()(const PathChanged& e) const {
    return format("EV %u port %u %s -> %s by %s", e.slot.value, e.port.value, named(kStates, e.from),
                  named(kStates, e.to), named(kCauses, e.cause));
  }
  std::string operator()(const PathSuspected& e) const {
    return format("EV %u port %u suspected of losing psn %u", e.slot.value, e.port.value, e.psn.value());
  }
  std::string operator()(const ProbeSent& e) const { return format("probe %u on EV %u", e.id, e.slot.value); }
  std::string operator()(const ProbeAnswered& e) const {
    return format("probe %u on EV %u answered after %.3f us", e.id, e.slot.value,
                  static_cast<double>(e.rtt.count()) / 1e3);
  }
  std::string operator()(const WindowChanged& e) const {
    return format("window %lu, in flight %ld", static_cast<unsigned long>(e.window),
                  static_cast<long>(e.in_flight));
  }
  std::string operator()(const Retried& e) const { return format("retry %u", e.count); }
  std::string operator()(const StateChanged& e) const {
    return format("%s -> %s", named(kQpStates, e.from), named(kQpStates, e.to));
  }
};

}  // namespace

std::string text(const Event& event) {
  return format("%12.3f us qp %u ", static_cast<double>(event.when.time_since_epoch().count()) / 1e3,
                event.qpn.value) +
         std::visit(Describe{}, event.body);
}

}  // namespace mrc::sim
