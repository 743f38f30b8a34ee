// From a picture to the lines of a screen.
#include <algorithm>
#include <cinttypes>
#include <map>

#include "tools/terminal.h"
#include "tools/top_picture.h"

namespace mrc::tools {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kMostGridRows = 8;

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
  }
};

std::string line_of(const char* format, auto... values) {
  char text[300];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// A cell for each EV: colours on a terminal, letters where there are none.
std::string cell(char state, const Paint& paint) {
  switch (state) {
    case 'g': return paint.on ? paint("32", "\u25a0") : "g";
    case 's': return paint.on ? paint("33", "\u25a0") : "s";
    case 'b': return paint.on ? paint("31", "\u25a0") : "b";
    default: return paint.on ? paint("90", "\u25a0") : "d";
  }
}

std::vector<std::string> grid(const TopQp& q, const Paint& paint) {
  std::map<std::uint32_t, std::string> rows;
  for (const auto& [lane, state] : q.evs) rows[lane] += cell(state, paint);
  std::vector<std::string> out;
  for (const auto& [lane, cells] : rows) {
    if (out.size() == kMostGridRows) break;
    out.push_back(line_of("  %3u  ", lane) + cells);
  }
  return out;
}

std::string row(const TopQp& q, bool chosen, const Paint& paint) {
  std::string text = line_of("%-34.34s %9.2f %9.1f %9.0f %8" PRIu64 " %7" PRIu64 "  ", q.name.c_str(),
                             q.rate / 1e9, q.rtt_us, q.window_kb, q.repairs, q.lost);
  text = chosen ? paint("7", text) : text;
  text += paint("32", line_of("%5u", q.counts[0])) + paint("33", line_of("%5u", q.counts[1]));
  text += q.counts[2] > 0 ? paint("31;1", line_of("%5u", q.counts[2])) : line_of("%5u", q.counts[2]);
  return text + line_of("%5u", q.counts[3]);
}

std::string heading(const Paint& paint) {
  return paint("1", line_of("%-34s %9s %9s %9s %8s %7s  %5s%5s%5s%5s", "queue pair", "Gb/s", "RTT us",
                            "window kB", "repairs", "lost", "good", "skip", "bad", "deny"));
}

std::string order_text(const TopLook& look, std::size_t shown, const TopPicture& p) {
  return line_of("%zu of %zu queue pairs, by %s%s", shown,
                 p.qps.size() + static_cast<std::size_t>(p.more_qps), name_of(look.order.by),
                 look.order.reverse ? " reversed" : "");
}

}  // namespace

std::vector<std::string> draw(const TopPicture& p, const TopLook& look) {
  const Paint paint{look.colour};
  std::vector<std::string> out = {paint("1", p.title) + (look.frozen ? paint("33;1", "  FROZEN") : "")};
  out.insert(out.end(), p.summary.begin(), p.summary.end());
  for (const TopLane& lane : p.lanes) {
    const std::string text =
        line_of("%-16s ", lane.name.c_str()) + bar(lane.rate, lane.most, kBarWidth) +
        line_of(" %8.2f Gb/s  %s%s", lane.rate / 1e9, lane.up ? "" : "DOWN ", lane.note.c_str());
    out.push_back(lane.up ? text : paint("31;1", text));
  }
  const auto qps = ordered(p, look.order);
  const std::size_t chosen = qps.empty() ? 0 : std::min(look.chosen, qps.size() - 1);
  out.push_back(paint("90", order_text(look, qps.size(), p)));
  out.push_back(heading(paint));
  const auto cells = qps.empty() ? std::vector<std::string>() : grid(*qps[chosen], paint);
  // What is left after the frame and the grid is shared: two parts for queue pairs, one for events.
  const int left = std::max(6, look.rows - static_cast<int>(out.size() + cells.size()) - 4);
  const auto room = static_cast<std::size_t>(std::max(3, left * 2 / 3));
  const std::size_t first = chosen >= room ? chosen - room + 1 : 0;
  for (std::size_t i = first; i < qps.size() && i < first + room; ++i)
    out.push_back(row(*qps[i], i == chosen, paint));
  if (!cells.empty()) out.push_back(paint("1", "EVs of " + qps[chosen]->name));
  out.insert(out.end(), cells.begin(), cells.end());
  out.push_back(paint("1", "events"));
  const auto events = static_cast<std::size_t>(std::max(1, look.rows - static_cast<int>(out.size()) - 1));
  const std::size_t from = p.events.size() > events ? p.events.size() - events : 0;
  for (std::size_t i = from; i < p.events.size(); ++i) out.push_back("  " + p.events[i]);
  while (static_cast<int>(out.size()) < look.rows - 1) out.emplace_back();
  out.resize(static_cast<std::size_t>(std::max(1, look.rows - 1)));
  out.push_back(look.typing
                    ? "filter: " + look.order.filter + "_"
                    : paint("90", "q quit  f freeze  s sort  r reverse  / filter  up, down choose" +
                                      (look.order.filter.empty() ? "" : "   [" + look.order.filter + "]")));
  return out;
}

}  // namespace mrc::tools
