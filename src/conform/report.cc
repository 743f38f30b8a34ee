#include "conform/report.h"

#include <cstdio>

#include "base/json.h"

namespace mrc::conform {
namespace {

using Kind = Outcome::Kind;

std::string capture_of(const Captures& captures, const CheckResult& r) {
  const auto found = captures.find(r.check.name);
  return found == captures.end() ? "" : found->second;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string row(const CheckResult& r, bool colour) {
  constexpr const char* kColours[] = {"\033[32m", "\033[31m", "\033[33m"};
  const auto kind = static_cast<std::size_t>(r.outcome.kind);
  char text[256];
  std::snprintf(text, sizeof text, "%s%-4s%s  %-22s %-12s %-9s  ", colour ? kColours[kind] : "",
                name(r.outcome.kind).data(), colour ? "\033[0m" : "", std::string(r.check.name).c_str(),
                std::string(r.check.requirement).c_str(), name(r.check.role).data());
  const bool passed = r.outcome.kind == Kind::pass;
  return text + (passed ? std::string(r.check.says) : r.outcome.why) + "\n";
}

std::string closing(const Report& report) {
  return std::to_string(report.results.size()) + " checks: " + std::to_string(report.count(Kind::pass)) +
         " passed, " + std::to_string(report.count(Kind::fail)) + " failed, " +
         std::to_string(report.count(Kind::skip)) + " skipped";
}

std::string to_json(const Report& report, const Captures& captures) {
  JsonWriter json;
  json.begin_object().field("device", report.device).field("conforms", report.conforms());
  json.field("passed", report.count(Kind::pass)).field("failed", report.count(Kind::fail));
  json.field("skipped", report.count(Kind::skip)).begin_array("checks");
  for (const CheckResult& r : report.results) {
    json.begin_object().field("name", r.check.name).field("requirement", r.check.requirement);
    json.field("role", name(r.check.role)).field("says", r.check.says).field("outcome", name(r.outcome.kind));
    json.field("why", r.outcome.why)
        .field("us", r.took / 1us)
        .field("capture", capture_of(captures, r))
        .end_object();
  }
  return json.end_array().end_object().text();
}

std::string to_markdown(const Report& report, const Captures& captures) {
  std::string text = "# Conformance of " + report.device + "\n\n" + closing(report) + ".\n\n";
  text +=
      "| outcome | check | requirement | device as | what it asks, and what was seen "
      "|\n|---|---|---|---|---|\n";
  for (const CheckResult& r : report.results) {
    text += "| " + std::string(name(r.outcome.kind)) + " | " + std::string(r.check.name) + " | " +
            std::string(r.check.requirement) + " | " + std::string(name(r.check.role)) + " | " +
            cell(r.check.says);
    if (!r.outcome.why.empty()) text += ": **" + cell(r.outcome.why) + "**";
    if (const std::string file = capture_of(captures, r); !file.empty()) text += " ([packets](" + file + "))";
    text += " |\n";
  }
  return text;
}

std::string to_html(const Report& report, const Captures& captures) {
  std::string text =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Conformance of " +
      escaped(report.device) +
      "</title><style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 "
      "1rem}"
      "table{border-collapse:collapse}td,th{padding:.2rem .6rem;border-bottom:1px solid "
      "#8885;text-align:left}"
      ".fail{color:#c22;font-weight:600}.pass{color:#182}.skip{color:#970}"
      "@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}}</style>"
      "<h1>Conformance of " +
      escaped(report.device) + "</h1><p>" + closing(report) +
      ".<table><tr><th>outcome<th>check<th>requirement<th>device as<th>what it asks, and what was seen";
  for (const CheckResult& r : report.results) {
    const std::string kind(name(r.outcome.kind));
    text += "<tr><td class=\"" + kind + "\">" + kind + "<td>" + escaped(r.check.name) + "<td>" +
            escaped(r.check.requirement) + "<td>" + std::string(name(r.check.role)) + "<td>" +
            escaped(r.check.says);
    if (!r.outcome.why.empty()) text += "<br><b>" + escaped(r.outcome.why) + "</b>";
    if (const std::string file = capture_of(captures, r); !file.empty()) {
      text += " <a href=\"" + escaped(file) + "\">packets</a>";
    }
  }
  return text + "</table></html>\n";
}

}  // namespace mrc::conform
