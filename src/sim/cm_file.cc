#include "sim/cm_file.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/counted.h"
#include "sim/text_input.h"

namespace mrc::sim {
namespace {

/// Reads one file. The first complaint stops it.
class CmParser {
 public:
  CmParser(std::string_view text, std::string_view file) : file_(file), lines_(words_by_line(text)) {}

  Result<CmFile> parse() {
    for (const TextLine& line : lines_) {
      line_ = &line;
      if (!statement()) return *error_;
    }
    if (!consistent()) return *error_;
    return std::move(out_);
  }

 private:
  using Words = std::vector<std::string_view>;

  bool fail(std::string_view what, std::string_view remedy) {
    error_ = error_at(file_, line_ == nullptr ? 1 : line_->number, what, remedy);
    return false;
  }

  bool statement() {
    const std::string_view first = line_->words[0];
    if (first == "Nodes") return header(nodes_);
    if (first == "Connections") return header(connections_);
    if (first == "Triggers") return header(triggers_);
    if (first == "Failures") return header(failures_);
    if (first == "trigger") return trigger();
    if (first == "failure") return failure();
    if (first.find("->") != first.npos) return connection();
    return fail("unknown word '" + std::string(first) + "'",
                "a line is Nodes, Connections, Triggers, Failures, SRC->DST ..., trigger ... or failure ...");
  }

  bool header(std::optional<std::uint32_t>& value) {
    if (value) return fail("'" + std::string(line_->words[0]) + "' a second time", "keep one");
    std::uint32_t n = 0;
    if (!number(1, n)) return false;
    value = n;
    return true;
  }

  /// The word at `at` as a 32-bit number.
  bool number(std::size_t at, std::uint32_t& out) {
    const auto n = at < line_->words.size() ? parse_number(line_->words[at]) : std::nullopt;
    if (!n || *n > UINT32_MAX) return no_number(at);
    out = static_cast<std::uint32_t>(*n);
    return true;
  }
  std::string_view word_at(std::size_t at) const {
    return at < line_->words.size() ? line_->words[at] : std::string_view();
  }
  bool no_number(std::size_t at) {
    if (is_digits(word_at(at)))
      return fail("'" + std::string(line_->words[at - 1]) + "' is " + std::string(word_at(at)) +
                      ", which is too large",
                  "write at most 4294967295");
    return fail("'" + std::string(line_->words[at - 1]) + "' needs a number" +
                    (at < line_->words.size() ? ", not '" + std::string(line_->words[at]) + "'" : ""),
                "write a whole number after it");
  }
  bool id(std::size_t at, std::uint32_t& out) {
    if (!number(at, out)) return false;
    return out != 0 || fail("id 0", "ids start at 1, because 0 means none");
  }

  bool connection() {
    CmConnection c;
    c.line = line_->number;
    bool has_start = false, has_size = false;
    if (!ends(c)) return false;
    for (std::size_t i = 1; i < line_->words.size(); i += 2) {
      if (line_->words[i] == "msg" && !has_value(i))
        --i;  // the peer lets it stand alone
      else if (!attribute(c, i, has_start, has_size))
        return false;
    }
    if (!has_size) return fail("a connection without size", "add 'size BYTES'");
    if (!has_start && c.trigger == 0)
      return fail("a connection that nothing starts", "add 'start PS' or 'trigger ID'");
    if (has_start && c.trigger != 0) return fail("both start and trigger", "keep one of them");
    out_.connections.push_back(c);
    return true;
  }

  bool ends(CmConnection& c) {
    const std::string_view word = line_->words[0];
    const std::size_t arrow = word.find("->");
    const auto source = parse_number(word.substr(0, arrow));
    const auto destination = parse_number(word.substr(arrow + 2));
    if (!source || !destination)
      return fail("'" + std::string(word) + "' names no two nodes", "write SRC->DST, for example 3->7");
    if (!nodes_) return fail("a connection before 'Nodes N'", "put the header first");
    if (*source >= *nodes_ || *destination >= *nodes_) {
      return fail("node " + std::to_string(std::max(*source, *destination)) + " does not exist",
                  "nodes are 0 to " + std::to_string(*nodes_ - 1) + "; correct it or raise 'Nodes'");
    }
    if (*source == *destination)
      return fail("a connection from a node to itself", "name two different nodes");
    c.source = static_cast<std::uint32_t>(*source);
    c.destination = static_cast<std::uint32_t>(*destination);
    return true;
  }

  bool has_value(std::size_t at) {
    reuses_id_.insert(line_->number);
    return at + 1 < line_->words.size() && parse_number(line_->words[at + 1]).has_value();
  }

  bool attribute(CmConnection& c, std::size_t i, bool& has_start, bool& has_size) {
    const std::string_view name = line_->words[i];
    const auto here = line_->words.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(line_->words.begin(), here, name) != here)
      return fail("'" + std::string(name) + "' a second time", "keep one");
    std::uint32_t ignored = 0;
    if (name == "id") return id(i + 1, c.id);
    if (name == "start") return has_start = true, time(i + 1, c.start);
    if (name == "size") return has_size = true, size(i + 1, c.bytes);
    if (name == "trigger") return id(i + 1, c.trigger);
    if (name == "send_done_trigger") return id(i + 1, c.send_done_trigger);
    if (name == "recv_done_trigger") return id(i + 1, c.recv_done_trigger);
    if (name == "msg") return number(i + 1, ignored);
    if (name == "prio") return number(i + 1, ignored);  // the peer's own scheduling; no meaning here
    return fail("unknown attribute '" + std::string(name) + "'",
                "a connection has id, start, size, trigger, send_done_trigger, recv_done_trigger, msg, prio");
  }
  bool time(std::size_t at, Ps& out) {
    const auto t = at < line_->words.size() ? parse_real(line_->words[at]) : std::nullopt;
    if (!t && !is_digits(word_at(at))) return no_number(at);
    if (!t) return fail("a start after 11 days", "write ps, at most 10^18");
    out = static_cast<Ps>(std::min(*t, kMostNs * kPsPerNs));
    return *t <= kMostNs * kPsPerNs || fail("a start after 11 days", "write ps, at most 10^18");
  }
  bool size(std::size_t at, std::uint64_t& out) {
    const auto n = at < line_->words.size() ? parse_number(line_->words[at]) : std::nullopt;
    if (!n && !is_digits(word_at(at))) return no_number(at);
    if (!n) return fail("size " + std::string(word_at(at)), "a transfer has 1 to 10^15 bytes");
    out = *n;
    return (*n != 0 && *n <= kMostBytes) ||
           fail("size " + std::to_string(*n), "a transfer has 1 to 10^15 bytes");
  }

  bool trigger() {
    CmTrigger t;
    t.line = line_->number;
    bool has_kind = false;
    for (std::size_t i = 1; i < line_->words.size(); ++i) {
      const std::string_view word = line_->words[i];
      if (word == "id"      ? !id(++i, t.id)
          : word == "count" ? !number(++i, t.count)
                            : !kind(word, t.kind, has_kind)) {
        return false;
      }
    }
    if (t.id == 0) return fail("a trigger without id", "write 'trigger id T ...'");
    if (!has_kind) return fail("a trigger without kind", "add oneshot, multishot or barrier");
    if (t.count == 0) return fail("a trigger that needs 0 activations", "count is at least 1");
    if (!defined_.emplace(t.id, t.line).second)
      return fail("trigger " + std::to_string(t.id) + " a second time", "keep one definition");
    out_.triggers.push_back(t);
    return true;
  }
  bool kind(std::string_view word, TriggerKind& out, bool& has_kind) {
    if (has_kind) return fail("a second kind '" + std::string(word) + "'", "a trigger has one kind");
    has_kind = true;
    if (word == "oneshot") return out = TriggerKind::oneshot, true;
    if (word == "multishot") return out = TriggerKind::multishot, true;
    if (word == "barrier") return out = TriggerKind::barrier, true;
    return fail("unknown word '" + std::string(word) + "' in a trigger",
                "a trigger has id, count, and oneshot, multishot or barrier");
  }

  bool failure() {
    CmFailure f;
    f.line = line_->number;
    bool has_tier = false;
    for (std::size_t i = 1; i < line_->words.size(); i += 2) {
      const std::string_view name = line_->words[i];
      const bool good = name == "switch_type" ? (has_tier = true, tier(i + 1, f.tier))
                        : name == "switch_id" ? number(i + 1, f.switch_id)
                        : name == "link_id"   ? number(i + 1, f.link_id)
                                              : fail("unknown attribute '" + std::string(name) + "'",
                                                     "a failure has switch_type, switch_id, link_id");
      if (!good) return false;
    }
    if (!has_tier) return fail("a failure without switch_type", "add 'switch_type TOR', AGG or CORE");
    out_.failures.push_back(f);
    return true;
  }
  bool tier(std::size_t at, int& out) {
    const std::string_view word = at < line_->words.size() ? line_->words[at] : "";
    if (word == "TOR") return out = 0, true;
    if (word == "AGG") return out = 1, true;
    if (word == "CORE") return out = 2, true;
    return fail("unknown switch_type '" + std::string(word) + "'", "use TOR, AGG or CORE");
  }

  bool consistent() {
    line_ = lines_.empty() ? nullptr : &lines_.back();
    if (!nodes_) return fail("no 'Nodes N'", "say how many nodes there are");
    if (*nodes_ == 0) return fail("0 nodes", "a matrix has at least two");
    out_.nodes = *nodes_;
    return counted("Connections", connections_, out_.connections.size()) &&
           counted("Triggers", triggers_, out_.triggers.size()) &&
           counted("Failures", failures_, out_.failures.size()) && ids_and_triggers();
  }
  bool counted(const char* name, const std::optional<std::uint32_t>& said, std::size_t found) {
    if (!said || *said == found) return true;
    return fail(
        std::string(name) + " says " + std::to_string(*said) + " and the file has " + std::to_string(found),
        "the file is cut short or the number is wrong: correct one of them");
  }
  bool ids_and_triggers() {
    std::unordered_set<std::uint32_t> ids;
    for (CmConnection& c : out_.connections) {
      TextLine where{c.line, {}};
      line_ = &where;
      if (c.id != 0 && !ids.insert(c.id).second && !reuses_id_.contains(c.line))
        return fail("connection id " + std::to_string(c.id) + " a second time", "ids are unique");
      for (const std::uint32_t t : {c.trigger, c.send_done_trigger, c.recv_done_trigger}) {
        if (t != 0 && !defined_.contains(t))
          return fail("trigger " + std::to_string(t) + " is not defined",
                      "add 'trigger id " + std::to_string(t) + " oneshot'");
      }
    }
    return all_start();
  }

  /// Lets each connection that starts fire its triggers, and says which one never does.
  bool all_start() {
    struct Waiting {
      const CmTrigger* trigger = nullptr;
      std::uint32_t fired = 0;
      std::vector<const CmConnection*> connections;
    };
    std::unordered_map<std::uint32_t, Waiting> triggers;
    for (const CmTrigger& t : out_.triggers) triggers[t.id].trigger = &t;
    std::vector<const CmConnection*> started;
    for (const CmConnection& c : out_.connections)
      (c.trigger == 0 ? started : triggers[c.trigger].connections).push_back(&c);
    for (std::size_t i = 0; i < started.size(); ++i) {
      for (const std::uint32_t id : {started[i]->send_done_trigger, started[i]->recv_done_trigger}) {
        if (id == 0) continue;
        Waiting& w = triggers[id];
        const auto& waiting = w.connections;
        ++w.fired;
        if (w.trigger->kind == TriggerKind::multishot) {
          if (w.fired <= waiting.size()) started.push_back(waiting[w.fired - 1]);
        } else if (w.fired == (w.trigger->kind == TriggerKind::barrier ? w.trigger->count : 1)) {
          started.insert(started.end(), waiting.begin(), waiting.end());
        }
      }
    }
    if (started.size() == out_.connections.size()) return true;
    const std::unordered_set<const CmConnection*> good(started.begin(), started.end());
    const auto never = std::find_if(out_.connections.begin(), out_.connections.end(),
                                    [&](const CmConnection& c) { return !good.contains(&c); });
    TextLine where{never->line, {}};
    line_ = &where;
    const Waiting& w = triggers[never->trigger];
    return fail("this connection never starts: trigger " + std::to_string(never->trigger) +
                    (w.fired == 0 ? " is fired by none that does"
                                  : " is fired " + mrc::counted(w.fired, "time") + ", too few for it"),
                "name it as send_done_trigger or recv_done_trigger of connections that start, often enough");
  }

  std::string file_;
  std::vector<TextLine> lines_;
  const TextLine* line_ = nullptr;
  std::optional<Error> error_;
  std::optional<std::uint32_t> nodes_, connections_, triggers_, failures_;
  std::unordered_map<std::uint32_t, int> defined_;
  std::unordered_set<int> reuses_id_;  // lines of further messages ('msg') on a connection
  CmFile out_;
};

}  // namespace

Result<CmFile> parse_cm(std::string_view text, std::string_view file) { return CmParser(text, file).parse(); }

Result<CmFile> read_cm(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  return parse_cm(*text, path);
}

}  // namespace mrc::sim
