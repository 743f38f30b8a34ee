// Metrics as text: OpenMetrics 1.0, or the older Prometheus form for those who do not ask for it.
//
//   Exposition out(TextForm::open_metrics);
//   out.counter("mrc_port_rx_bytes", "Bytes received.", "bytes");
//   out.sample({{"device", "mrc0"}, {"port", "1"}}, 4711);
//   puts(out.end().c_str());
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace mrc::node {

enum class TextForm : std::uint8_t { open_metrics, prometheus };

/// What a scraper's Accept header asks for; who asks for nothing gets the older form.
TextForm form_for(std::string_view accept);
const char* content_type(TextForm form);

struct Label {
  std::string_view name, value;
};
using Labels = std::span<const Label>;

class Exposition {
 public:
  explicit Exposition(TextForm form) : form_(form) {}

  // Each begins a family: all its samples follow before the next one. `name` has no "_total"; when there is a
  // unit the name ends with it.
  void counter(std::string_view name, std::string_view help, std::string_view unit = {});
  void gauge(std::string_view name, std::string_view help, std::string_view unit = {});
  /// A value that is always 1, for its labels. `name` has no "_info".
  void info(std::string_view name, std::string_view help);

  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  void sample(std::initializer_list<Label> labels, auto value) {
    sample(Labels(labels.begin(), labels.size()), value);
  }

  /// The whole text. Nothing may follow.
  std::string end();

 private:
  void family(std::string_view name, std::string_view suffix, std::string_view type, std::string_view help,
              std::string_view unit);
  void begin_sample(Labels labels);

  TextForm form_;
  std::string text_;
  std::string sample_name_;
};

}  // namespace mrc::node
