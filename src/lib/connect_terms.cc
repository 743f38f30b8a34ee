#include "lib/connect_terms.h"

#include <array>
#include <cerrno>
#include <vector>

#include "wire/bytes.h"

namespace mrc::lib::connect {
namespace {

constexpr std::size_t kEntry = 1 + 4;

struct Term {
  std::uint8_t which;
  const char* name;
  std::uint32_t value;
};

std::array<Term, 4> table_of(const WireTerms& t) {
  return {{{1, "MRC_UDP_PORT", t.udp_port},
           {2, "MRC_ICRC", t.icrc ? 1u : 0u},
           {3, "`trimmed` of MRC_DSCP", t.trimmed},
           {4, "`trimmed_lasthop` of MRC_DSCP", t.trimmed_lasthop}}};
}

}  // namespace

Message emit_ready(const WireTerms& terms) {
  std::vector<std::uint8_t> body;
  for (const Term& term : table_of(terms)) {
    std::array<std::uint8_t, kEntry> entry{term.which};
    wire::store32(&entry[1], term.value);
    body.insert(body.end(), entry.begin(), entry.end());
  }
  return emit(Type::ready, body);
}

Status agree_on_terms(const WireTerms& ours, std::span<const std::uint8_t> ready) {
  for (; ready.size() >= kEntry; ready = ready.subspan(kEntry)) {
    const std::uint32_t theirs = wire::load32(&ready[1]);
    for (const Term& term : table_of(ours)) {
      if (term.which != ready[0] || term.value == theirs) continue;
      return Error{EINVAL, std::string(term.name) + " is " + std::to_string(term.value) +
                               " on this side and " + std::to_string(theirs) +
                               " at the peer: give both the same"};
    }
  }
  return Done{};
}

}  // namespace mrc::lib::connect
