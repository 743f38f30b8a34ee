#include "sim/goal_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "sim/text_input.h"

namespace mrc::sim {
namespace {

/// With blanks around the signs that need none, and for comments that may span lines.
std::string spaced(std::string_view text) {
  std::string out;
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == (comment ? "*/" : "/*")) {
      comment = !comment;
      ++i;
    } else if (comment) {
      if (text[i] == '\n') out += '\n';
    } else if (text[i] == ':' || text[i] == '{' || text[i] == '}') {
      out += {' ', text[i], ' '};
    } else {
      out += text[i];
    }
  }
  return out;
}

class GoalParser {
 public:
  GoalParser(std::string_view text, std::string_view file)
      : file_(file), text_(spaced(text)), lines_(words_by_line(text_)) {}

  Result<GoalFile> parse() {
    for (const TextLine& line : lines_) {
      line_ = line.number;
      if (!statement(line.words)) return *error_;
    }
    if (in_rank_) return fail("the file ends inside a rank", "close it with '}'"), *error_;
    if (ranks_ == 0) return fail("no 'num_ranks N'", "say how many ranks there are"), *error_;
    if (!messages_match()) return *error_;
    return std::move(out_);
  }

 private:
  using Words = std::vector<std::string_view>;
  struct Dependency {
    std::uint32_t after, before;
    bool on_start;
  };

  bool fail(std::string_view what, std::string_view remedy) {
    error_ = error_at(file_, line_, what, remedy);
    return false;
  }

  bool statement(const Words& words) {
    if (words[0] == "num_ranks") return rank_count(words);
    if (words[0] == "rank") return open_rank(words);
    if (words[0] == "}") return close_rank();
    if (!in_rank_) return fail("'" + std::string(words[0]) + "' outside a rank", "open one with 'rank R {'");
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) return dependency(words);
    return operation(words);
  }

  bool rank_count(const Words& words) {
    const auto n = words.size() == 2 ? parse_number(words[1]) : std::nullopt;
    if (!n || *n == 0 || *n > kMaxRanks)
      return fail("num_ranks needs a number from 1 to 16777216", "write 'num_ranks N'");
    if (ranks_ != 0) return fail("num_ranks a second time", "keep one");
    ranks_ = static_cast<std::uint32_t>(*n);
    out_.ranks.resize(ranks_);
    return true;
  }

  bool open_rank(const Words& words) {
    const std::uint64_t r =
        words.size() == 3 && words[2] == "{" ? parse_number(words[1]).value_or(kNone) : kNone;
    if (in_rank_) return fail("a rank inside a rank", "close the first with '}'");
    if (r == kNone)
      return fail("a rank that is not 'rank R {'", "write it on one line, for example 'rank 0 {'");
    if (r >= ranks_)
      return fail("rank " + std::to_string(r) + " does not exist",
                  "ranks are 0 to num_ranks - 1, and num_ranks comes first");
    rank_ = &out_.ranks[r];
    if (!rank_->ops.empty())
      return fail("rank " + std::to_string(r) + " a second time", "put its operations into one block");
    in_rank_ = true;
    labels_.clear();
    dependencies_.clear();
    return true;
  }

  bool operation(const Words& all) {
    const bool named = all.size() > 1 && all[1] == ":";
    const Words words(all.begin() + (named ? 2 : 0), all.end());  // the verb, and what follows it
    if (words.size() < 2)
      return fail("'" + std::string(all[0]) + "' is no operation",
                  "write 'LABEL: send|recv|calc ...' or 'LABEL requires LABEL'");
    GoalOp op;
    op.line = line_;
    const std::string_view verb = words[0];
    const bool good = verb == "send"   ? message(words, GoalKind::send, "to", op)
                      : verb == "recv" ? message(words, GoalKind::receive, "from", op)
                      : verb == "calc"
                          ? calculation(words, op)
                          : fail("unknown operation '" + std::string(verb) + "'", "use send, recv or calc");
    if (!good) return false;
    if (named && !labels_.emplace(all[0], rank_->ops.size()).second)
      return fail("label '" + std::string(all[0]) + "' a second time", "labels are unique within a rank");
    rank_->ops.push_back(op);
    return true;
  }

  bool message(const Words& words, GoalKind kind, std::string_view preposition, GoalOp& op) {
    op.kind = kind;
    const std::string_view size = words[1];
    const auto bytes = size.ends_with('b') ? parse_number(size.substr(0, size.size() - 1)) : std::nullopt;
    if (!bytes || *bytes > kMostBytes)
      return fail("'" + std::string(size) + "' is no size",
                  "write bytes with a b, for example 4096b, and at most 10^15");
    if (words.size() >= 4 && words[2] == preposition && words[3] == kAny) return no_wildcard("rank");
    const auto peer = words.size() >= 4 && words[2] == preposition ? parse_number(words[3]) : std::nullopt;
    if (!peer)
      return fail("a message without its peer",
                  "write '" + std::string(preposition) + " RANK' after the size");
    if (*peer >= ranks_)
      return fail("rank " + std::to_string(*peer) + " does not exist",
                  "ranks are 0 to " + std::to_string(ranks_ - 1));
    if (&out_.ranks[*peer] == rank_) return fail("a message to the rank itself", "name another rank");
    op.amount = std::max<std::uint64_t>(*bytes, 1);
    op.peer = static_cast<std::uint32_t>(*peer);
    return options(words, 4, op);
  }
  bool no_wildcard(const std::string& what) {
    return fail("a message of any " + what, "name the " + what + ": messages are matched by rank and tag");
  }
  bool calculation(const Words& words, GoalOp& op) {
    const auto ns = parse_number(words[1]);
    if (!ns || *ns > kMostNs)
      return fail("'" + std::string(words[1]) + "' is no time", "write whole nanoseconds, at most 10^15");
    op.amount = *ns;
    return options(words, 2, op);
  }
  bool options(const Words& words, std::size_t at, GoalOp& op) {
    for (; at < words.size(); at += 2) {
      const std::uint64_t value = at + 1 < words.size() ? parse_number(words[at + 1]).value_or(kNone) : kNone;
      if (words[at] != "tag" && words[at] != "cpu" && words[at] != "nic")
        return fail("unknown option '" + std::string(words[at]) + "'", "use tag, cpu or nic");
      if (words[at] == "tag" && at + 1 < words.size() && words[at + 1] == kAny) return no_wildcard("tag");
      if (at + 1 < words.size() && is_digits(words[at + 1]) && value > UINT32_MAX)
        return fail(
            "'" + std::string(words[at]) + "' is " + std::string(words[at + 1]) + ", which is too large",
            "write at most 268435455");
      if (value > UINT32_MAX)
        return fail("'" + std::string(words[at]) + "' needs a number", "write one after it");
      if (words[at] == "tag") op.tag = static_cast<std::uint32_t>(value);
    }
    return true;
  }

  bool dependency(const Words& words) {
    const auto after = labels_.find(std::string(words[0]));
    const auto before = labels_.find(std::string(words[2]));
    for (const auto& [found, word] : {std::pair(after, words[0]), std::pair(before, words[2])}) {
      if (found == labels_.end())
        return fail("label '" + std::string(word) + "' is not defined", "define it above, in the same rank");
    }
    dependencies_.push_back({after->second, before->second, words[1] == "irequires"});
    return true;
  }

  bool close_rank() {
    if (!in_rank_) return fail("'}' without a rank", "remove it");
    in_rank_ = false;
    std::sort(dependencies_.begin(), dependencies_.end(),
              [](const Dependency& a, const Dependency& b) { return a.before < b.before; });
    for (const Dependency& d : dependencies_) {
      GoalOp& before = rank_->ops[d.before];
      if (before.edges++ == 0) before.first_edge = static_cast<std::uint32_t>(rank_->edges.size());
      rank_->edges.push_back({d.after, d.on_start});
      ++rank_->ops[d.after].waits_for;
    }
    return acyclic();
  }
  bool acyclic() {
    std::vector<std::uint32_t> waits, ready;
    for (std::uint32_t i = 0; i < rank_->ops.size(); ++i) {
      waits.push_back(rank_->ops[i].waits_for);
      if (waits[i] == 0) ready.push_back(i);
    }
    for (std::size_t done = 0; done < ready.size(); ++done) {
      const GoalOp& op = rank_->ops[ready[done]];
      for (std::uint32_t e = op.first_edge; e < op.first_edge + op.edges; ++e) {
        if (--waits[rank_->edges[e].to] == 0) ready.push_back(rank_->edges[e].to);
      }
    }
    if (ready.size() == rank_->ops.size()) return true;
    const auto stuck = static_cast<std::size_t>(
        std::find_if(waits.begin(), waits.end(), [](auto w) { return w != 0; }) - waits.begin());
    line_ = rank_->ops[stuck].line;
    return fail("this operation waits for itself", "break the cycle of requires");
  }

  // Every send has its receive: source, destination and tag. What a receive has room for does not matter
  // here.
  bool messages_match() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::pair<std::int64_t, int>> open;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (const GoalOp& op : out_.ranks[r].ops) {
        if (op.kind == GoalKind::calc) continue;
        const bool send = op.kind == GoalKind::send;
        auto& [balance, line] = open[{send ? r : op.peer, send ? op.peer : r, op.tag}];
        balance += send ? 1 : -1;
        line = op.line;
      }
    }
    for (const auto& [key, value] : open) {
      if (value.first == 0) continue;
      line_ = value.second;
      const auto [from, to, tag] = key;
      return fail("rank " + std::to_string(from) + " to rank " + std::to_string(to) + " with tag " +
                      std::to_string(tag) + ": " +
                      (value.first > 0 ? "a send that nobody receives" : "a receive that nobody sends"),
                  "each send needs one recv with the same peer and tag");
    }
    return true;
  }

  static constexpr std::uint64_t kMaxRanks = 1 << 24;
  static constexpr std::uint64_t kNone = UINT64_MAX;
  static constexpr std::string_view kAny = "-1";

  std::string file_;
  const std::string text_;
  std::vector<TextLine> lines_;
  int line_ = 1;
  std::optional<Error> error_;
  GoalFile out_;
  std::uint32_t ranks_ = 0;
  GoalRank* rank_ = nullptr;
  bool in_rank_ = false;
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::vector<Dependency> dependencies_;
};

}  // namespace

Result<GoalFile> parse_goal(std::string_view text, std::string_view file) {
  return GoalParser(text, file).parse();
}

Result<GoalFile> read_goal(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  return parse_goal(*text, path);
}

}  // namespace mrc::sim
