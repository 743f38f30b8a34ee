// What a check is: a name, the requirement that it holds a device to, and a script over wire packets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mrc::conform {

class Bench;

struct Outcome {
  enum class Kind : std::uint8_t { pass, fail, skip };
  Kind kind = Kind::pass;
  std::string why;  // fail: what was seen instead. skip: what would be needed
};
inline Outcome pass() { return {}; }
inline Outcome fail(std::string why) { return {Outcome::Kind::fail, std::move(why)}; }
inline Outcome skip(std::string why) { return {Outcome::Kind::skip, std::move(why)}; }
std::string_view name(Outcome::Kind kind);

/// The part that the device plays.
enum class Role : std::uint8_t { responder, requestor };
std::string_view name(Role role);

struct Needs {
  bool post = false, completions = false, memory = false, deny = false, congestion = false;
  bool planes = false;  // two or more
};

struct Check {
  std::string_view name;
  std::string_view requirement;  // of spec/requirements
  Role role;
  std::string_view says;  // what a device does that passes
  Outcome (*run)(Bench&);
  Needs needs = {};
  bool ends_qp = false;  // afterwards the QP is of no use, also at a device that conforms
};

// One table per file of scripts.
std::span<const Check> format_checks();
std::span<const Check> sack_checks();
std::span<const Check> window_checks();
std::span<const Check> access_checks();
std::span<const Check> message_checks();
std::span<const Check> sending_checks();
std::span<const Check> repair_checks();
std::span<const Check> completion_checks();
std::span<const Check> path_checks();
std::span<const Check> congestion_checks();
std::span<const Check> plane_checks();
/// All of them, in the order in which they run.
std::vector<Check> all_checks();

}  // namespace mrc::conform
