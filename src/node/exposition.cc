#include "node/exposition.h"

#include <cmath>
#include <cstdio>

namespace mrc::node {
namespace {

/// Labels may hold what processes call themselves: whatever is not plain text would spoil the whole scrape.
void escape(std::string_view value, std::string& out) {
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c < 0x20 || c > 0x7E ? '?' : c;
    }
  }
}

}  // namespace

TextForm form_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? TextForm::prometheus
                                                                               : TextForm::open_metrics;
}

const char* content_type(TextForm form) {
  return form == TextForm::open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

void Exposition::counter(std::string_view name, std::string_view help, std::string_view unit) {
  family(name, "_total", "counter", help, unit);
}

void Exposition::gauge(std::string_view name, std::string_view help, std::string_view unit) {
  family(name, "", "gauge", help, unit);
}

void Exposition::info(std::string_view name, std::string_view help) {
  family(name, "_info", form_ == TextForm::open_metrics ? "info" : "gauge", help, {});
}

/// The two forms differ in what a family is called: OpenMetrics leaves the suffix of its samples out.
void Exposition::family(std::string_view name, std::string_view suffix, std::string_view type,
                        std::string_view help, std::string_view unit) {
  sample_name_ = std::string(name) + std::string(suffix);
  const std::string title = form_ == TextForm::open_metrics ? std::string(name) : sample_name_;
  text_ += "# TYPE " + title + " " + std::string(type) + "\n";
  if (!unit.empty() && form_ == TextForm::open_metrics)
    text_ += "# UNIT " + title + " " + std::string(unit) + "\n";
  text_ += "# HELP " + title + " " + std::string(help) + "\n";
}

void Exposition::begin_sample(Labels labels) {
  text_ += sample_name_;
  if (labels.empty()) return;
  char before = '{';
  for (const Label& label : labels) {
    text_ += before;
    text_ += label.name;
    text_ += "=\"";
    escape(label.value, text_);
    text_ += '"';
    before = ',';
  }
  text_ += '}';
}

void Exposition::sample(Labels labels, std::uint64_t value) {
  begin_sample(labels);
  text_ += ' ' + std::to_string(value) + '\n';
}

void Exposition::sample(Labels labels, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, " %.9g\n", std::isfinite(value) ? value : 0.0);
  begin_sample(labels);
  text_ += digits;
}

std::string Exposition::end() {
  if (form_ == TextForm::open_metrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace mrc::node
