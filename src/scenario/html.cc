#include "scenario/html.h"

#include <cmath>
#include <cstdio>

namespace mrc::scenario {
namespace {

// Colours that differ in hue and in lightness, once for paper and once for night.
constexpr const char* kStyle = R"css(
:root{--paper:#fff;--ink:#1c2330;--soft:#5b6675;--line:#dfe3e8;--panel:#f6f7f9;--good:#1a7f46;--bad:#c0321f;--mark:#b05c00;
--heat:#1f5fbf;--c0:#2563b8;--c1:#d9730d;--c2:#1f8a5b;--c3:#b8336a;--c4:#7651c2;--c5:#8a6d00;--c6:#0b8793;--c7:#6b7280}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e6e9ee;--soft:#9aa5b3;--line:#2c343f;--panel:#1a2028;--good:#4cc38a;
--bad:#ff7b6b;--mark:#f2a65a;--heat:#6ea8ff;--c0:#6ea8ff;--c1:#ff9f4a;--c2:#4cc38a;--c3:#f274a5;--c4:#b197fc;--c5:#e0c341;
--c6:#4fd1dd;--c7:#a3adba}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:28px 24px 60px;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:26px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 10px}p.sub{color:var(--soft);margin:0 0 18px;max-width:80ch}
.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:16px 0}
.tile{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 14px;min-width:132px}
.tile b{display:block;font-size:21px;font-weight:600;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:12.5px}.good{color:var(--good)}.bad{color:var(--bad)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13.5px}
th{color:var(--soft);font-weight:600;text-align:left}th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n{text-align:right;white-space:nowrap}
figure{margin:14px 0 22px}figcaption{color:var(--soft);font-size:13px;margin-bottom:4px}
svg{display:block;width:100%;height:auto;background:var(--panel);border:1px solid var(--line);border-radius:8px}
svg text{fill:var(--soft);font:11.5px system-ui,sans-serif}svg text.key{fill:var(--ink)}
svg .grid{stroke:var(--line);stroke-width:1}svg .mark{stroke:var(--mark);stroke-width:1;stroke-dasharray:4 3}
svg text.mark{fill:var(--mark);stroke:none;font-size:10.5px}svg polyline{fill:none;stroke-width:1.7;stroke-linejoin:round}
svg .heat{fill:var(--heat)}svg .bar{fill:var(--c0)}svg .bar.bad{fill:var(--bad)}
details{margin:26px 0}summary{cursor:pointer;color:var(--soft)}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px;overflow-x:auto;font-size:12.5px}
)css";

const char* class_of(Tone tone) { return tone == Tone::good ? "good" : tone == Tone::bad ? "bad" : ""; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string brief(double v) {
  constexpr struct {
    double factor;
    const char* suffix;
  } kUnits[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
  char digits[48];
  for (const auto& unit : kUnits) {
    if (std::fabs(v) < unit.factor) continue;
    const double scale = unit.factor == 1e4 ? 1e3 : unit.factor;
    std::snprintf(digits, sizeof digits, "%.4g%s", v / scale, unit.suffix);
    return digits;
  }
  std::snprintf(digits, sizeof digits, "%.4g", v);
  return digits;
}

Cell cell(std::string text, Tone tone) { return {std::move(text), tone, false}; }
Cell cell(double value) { return {brief(value), Tone::plain, true}; }

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows) {
  std::string out = "<div class=\"scroll\"><table><tr>";
  for (const std::string& h : head) out += "<th>" + escaped(h) + "</th>";
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const Cell& c : row) {
      const std::string classes = std::string(c.number ? "n " : "") + class_of(c.tone);
      out += "<td" + (classes.empty() ? "" : " class=\"" + classes + "\"") + ">" + escaped(c.text) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string tiles(const std::vector<Tile>& all) {
  std::string out = "<div class=\"tiles\">";
  for (const Tile& t : all) {
    out += "<div class=\"tile\"><span>" + escaped(t.label) + "</span><b class=\"" + class_of(t.tone) + "\">" +
           escaped(t.value) + "</b><span>" + escaped(t.note) + "</span></div>";
  }
  return out + "</div>\n";
}

std::string page(const std::string& title, const std::string& subtitle, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
         escaped(title) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + escaped(title) +
         "</h1><p class=\"sub\">" + escaped(subtitle) + "</p>\n" + body + "</body></html>\n";
}

}  // namespace mrc::scenario
