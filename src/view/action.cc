#include <nlohmann/json.hpp>

#include "view/source.h"

namespace mrc::view {
namespace {

using nlohmann::json;
using Verb = Action::Verb;

constexpr std::pair<const char*, Verb> kVerbs[] = {
    {"fail", Verb::fail}, {"heal", Verb::heal},       {"pause", Verb::pause}, {"resume", Verb::resume},
    {"pace", Verb::pace}, {"restart", Verb::restart}, {"focus", Verb::focus}};

constexpr std::size_t kLongestName = 64;

template <class T>
bool read(const json& from, const char* key, T& to, bool (json::*is)() const noexcept) {
  const auto found = from.find(key);
  if (found == from.end()) return true;
  if (!((*found).*is)()) return false;
  to = found->get<T>();
  return true;
}

bool read_number(const json& from, const char* key, std::optional<std::uint32_t>& to) {
  const auto found = from.find(key);
  if (found == from.end()) return true;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > UINT32_MAX) return false;
  to = found->get<std::uint32_t>();
  return true;
}

}  // namespace

Result<Action> parse_action(std::string_view text) {
  const json from = json::parse(text, nullptr, false);
  if (!from.is_object()) return Error{EINVAL, "an action is a JSON object such as {\"verb\":\"heal\"}"};
  std::string verb;
  Action a;
  if (!read(from, "verb", verb, &json::is_string) || !read(from, "target", a.target, &json::is_string) ||
      !read(from, "silent", a.silent, &json::is_boolean) || !read(from, "loss", a.loss, &json::is_number) ||
      !read(from, "pace", a.pace, &json::is_number) || !read_number(from, "plane", a.plane) ||
      !read_number(from, "t0", a.t0) || !read_number(from, "host", a.host))
    return Error{EINVAL, "a value of this action has the wrong type"};
  const auto* known =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const auto& v) { return v.first == verb; });
  if (known == std::end(kVerbs))
    return Error{EINVAL, "no such verb; there are fail, heal, pause, resume, pace, restart and focus"};
  a.verb = known->second;
  if (a.target.size() > kLongestName) return Error{EINVAL, "no target has so long a name"};
  if (!(a.loss >= 0 && a.loss <= 1)) return Error{EINVAL, "a loss lies between 0 and 1"};
  if (a.verb == Verb::pace && !(a.pace > 0 && a.pace <= 1))
    return Error{EINVAL, "a pace lies between 0 and 1"};
  return a;
}

}  // namespace mrc::view
