#include "sim/topo_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "sim/text_input.h"

namespace mrc::sim {
namespace {

struct Said {
  std::uint64_t value = 0;
  int line = 0;
};

/// What the header or a tier says, by name.
struct Block {
  std::map<std::string, Said> values;
  int line = 0;  // 0: the file has no such tier

  bool has(const std::string& name) const { return values.contains(name); }
  std::uint64_t value(const std::string& name, std::uint64_t otherwise = 0) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second.value;
  }
  /// Where it is said; where the block begins when it is not.
  int line_of(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? line : found->second.line;
  }
};

constexpr std::uint64_t kMost = 1'000'000'000;
constexpr std::array<std::string_view, 5> kNeverZero = {"nodes", "tiers", "podsize", "radix_down",
                                                        "downlink_speed_gbps"};

constexpr std::array<std::string_view, 9> kTierWords = {
    "downlink_speed_gbps", "radix_down", "radix_up", "downlink_latency_ns", "switch_latency_ns",
    "oversubscribed",      "bundle",     "queue_up", "queue_down"};

class TopoParser {
 public:
  TopoParser(std::string_view text, std::string_view file) : file_(file), lines_(words_by_line(text)) {}

  Result<TopoFile> parse() {
    for (const TextLine& line : lines_) {
      line_ = line.number;
      if (!statement(line.words)) return *error_;
    }
    if (!has_header() || !has_tiers() || !sizes() || !links()) return *error_;
    return std::move(out_);
  }

 private:
  bool fail(std::string_view what, std::string_view remedy) {
    error_ = error_at(file_, line_, what, remedy);
    return false;
  }

  bool statement(const std::vector<std::string_view>& words) {
    const std::string name = lower_case(words[0]);
    const auto value = words.size() == 2 ? parse_number(words[1]) : std::nullopt;
    if (words.size() == 2 && is_digits(words[1]) && value.value_or(kMost + 1) > kMost)
      return fail("'" + std::string(words[0]) + "' is " + std::string(words[1]) + ", which is too large",
                  "write at most " + std::to_string(kMost));
    if (!value) return fail("'" + std::string(words[0]) + "' needs one number", "write 'NAME NUMBER'");
    if (*value == 0 && std::find(kNeverZero.begin(), kNeverZero.end(), name) != kNeverZero.end())
      return fail("'" + std::string(words[0]) + "' is 0", "write at least 1");
    if (name == "tier") return open_tier(*value);
    if (tier_ == nullptr) return header(name, words[0], *value);
    if (std::find(kTierWords.begin(), kTierWords.end(), name) == kTierWords.end()) return unknown(words[0]);
    if (!tier_->values.emplace(name, Said{*value, line_}).second)
      return fail("'" + std::string(words[0]) + "' a second time in this tier", "keep one");
    return true;
  }
  bool unknown(std::string_view word) {
    std::string known;
    for (const std::string_view k : kTierWords) known += (known.empty() ? "" : ", ") + std::string(k);
    return fail("unknown word '" + std::string(word) + "'", "a tier has " + known);
  }
  bool header(const std::string& name, std::string_view word, std::uint64_t value) {
    if (name != "nodes" && name != "tiers" && name != "podsize")
      return fail("'" + std::string(word) + "' before the first tier",
                  "the header has Nodes, Tiers and Podsize; then comes 'Tier 0'");
    header_.values[name] = {value, line_};
    return true;
  }
  bool open_tier(std::uint64_t number) {
    if (number > 2) return fail("tier " + std::to_string(number), "tiers are 0, 1 and 2");
    tier_ = &tiers_[number];
    if (tier_->line != 0) return fail("tier " + std::to_string(number) + " a second time", "keep one block");
    tier_->line = line_;
    return true;
  }

  bool has_header() {
    line_ = 1;
    for (const char* name : {"nodes", "tiers", "podsize"}) {
      if (!header_.has(name))
        return fail("the header lacks " + std::string(name), "add Nodes, Tiers and Podsize at the top");
    }
    const std::uint64_t tiers = header_.value("tiers");
    line_ = header_.line_of("tiers");
    if (tiers != 2 && tiers != 3)
      return fail("Tiers " + std::to_string(tiers), "htsim topologies have 2 or 3 tiers");
    return true;
  }

  bool has_tiers() {
    const std::uint64_t tiers = header_.value("tiers");
    for (std::uint64_t t = 0; t < tiers; ++t) {
      line_ = std::max(tiers_[t].line, 1);
      if (tiers_[t].line == 0)
        return fail("tier " + std::to_string(t) + " is missing",
                    "add 'Tier " + std::to_string(t) + "' and its values");
      for (const char* name : {"radix_down", "downlink_speed_gbps"}) {
        if (!tiers_[t].has(name)) return fail("tier " + std::to_string(t) + " lacks " + name, "add it");
      }
      line_ = tiers_[t].line_of("radix_up");
      if (t + 1 < tiers && tiers_[t].value("radix_up") == 0)
        return fail("tier " + std::to_string(t) + " has no Radix_Up",
                    "say how many: a tier below the top has uplinks");
      line_ = tiers_[t].line_of("bundle");
      if (tiers_[t].value("bundle", 1) != 1)
        return fail("a bundle of parallel links", "set Bundle 1 and use more switches in the tier above");
    }
    return true;
  }

  bool sizes() {
    topo::Spec& s = out_.spec;
    const std::uint64_t nodes = header_.value("nodes"), pod = header_.value("podsize");
    const std::uint64_t under_t0 = tiers_[0].value("radix_down", 1);
    line_ = nodes % pod != 0 ? header_.line_of("podsize") : tiers_[0].line_of("radix_down");
    if (nodes % pod != 0 || pod % under_t0 != 0) {
      return fail(std::to_string(nodes) + " nodes in pods of " + std::to_string(pod) + " and " +
                      std::to_string(under_t0) + " under a T0 do not come out even",
                  "Podsize must divide Nodes, and Radix_Down of tier 0 must divide Podsize");
    }
    s.tiers = static_cast<std::uint32_t>(header_.value("tiers"));
    s.hosts_per_t0 = static_cast<std::uint32_t>(under_t0);
    s.pods = static_cast<std::uint32_t>(nodes / pod);
    s.t0 = static_cast<std::uint32_t>(pod / under_t0);
    s.t1 = static_cast<std::uint32_t>(tiers_[0].value("radix_up", 1));
    line_ = header_.line_of("podsize");
    if (s.tiers == 2 && s.pods != 1)
      return fail("several pods in two tiers", "set Podsize to Nodes, or use three tiers");
    if (!meets(1, s.t0, "T0s of a pod")) return false;
    if (s.tiers == 2) return true;
    s.t2 = static_cast<std::uint32_t>(tiers_[1].value("radix_up", 1));
    return meets(2, s.pods, "pods");
  }
  bool meets(std::uint64_t tier, std::uint32_t below, const char* what) {
    if (tiers_[tier].value("radix_down", 0) == below) return true;
    line_ = tiers_[tier].line_of("radix_down");
    return fail("tier " + std::to_string(tier) + " has Radix_Down " +
                    std::to_string(tiers_[tier].value("radix_down", 0)) + " for " + std::to_string(below) +
                    " " + what,
                "set it to " + std::to_string(below) + ": one link to each");
  }

  bool links() {
    topo::Spec& s = out_.spec;
    topo::LinkSpec* const links[] = {&s.host_link, &s.t0_t1, &s.t1_t2};
    s.switch_delay = Duration(static_cast<std::int64_t>(tiers_[0].value("switch_latency_ns", 0)));
    for (std::uint32_t t = 0; t < s.tiers; ++t) {
      const Block& tier = tiers_[t];
      links[t]->bits_per_second = tier.value("downlink_speed_gbps", 0) * 1'000'000'000;
      links[t]->delay = Duration(static_cast<std::int64_t>(tier.value("downlink_latency_ns", 0)));
      line_ = tier.line_of("downlink_latency_ns");
      if (links[t]->delay.count() == 0)
        return fail("tier " + std::to_string(t) + " has links without delay",
                    "set Downlink_Latency_ns to at least 1");
      line_ = tier.line_of("switch_latency_ns");
      if (Duration(static_cast<std::int64_t>(tier.value("switch_latency_ns", 0))) != s.switch_delay) {
        return fail("Switch_Latency_ns differs between tiers", "use one value");
      }
    }
    return queues();
  }

  bool queues() {
    PortRooms& q = out_.queues;
    std::uint32_t* const down[] = {&q.to_host, &q.t1_down, &q.t2_down};
    std::uint32_t* const up[] = {&q.t0_up, &q.t1_up};
    const std::uint32_t top = out_.spec.tiers - 1;
    for (std::uint32_t t = 0; t <= top; ++t) {
      *down[t] = static_cast<std::uint32_t>(tiers_[t].value("queue_down", 0));
      if (t < top) *up[t] = static_cast<std::uint32_t>(tiers_[t].value("queue_up", 0));
    }
    if (!tiers_[top].has("queue_up")) return true;
    line_ = tiers_[top].line_of("queue_up");
    return fail("Queue_Up in tier " + std::to_string(top) + ", which has no uplinks", "remove it");
  }

  std::string file_;
  std::vector<TextLine> lines_;
  int line_ = 1;
  std::optional<Error> error_;
  Block header_{{}, 1};
  std::array<Block, 3> tiers_;
  Block* tier_ = nullptr;
  TopoFile out_;
};

}  // namespace

Result<TopoFile> parse_topo(std::string_view text, std::string_view file) {
  return TopoParser(text, file).parse();
}

Result<TopoFile> read_topo(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  return parse_topo(*text, path);
}

}  // namespace mrc::sim
