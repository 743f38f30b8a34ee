#include "topo/draw.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace mrc::topo {
namespace {

constexpr double kColumn = 46, kRow = 110, kBox = 34, kHeight = 20, kMargin = 24, kTitle = 44;
constexpr const char* kColors[] = {"#2f6fb3", "#b3592f", "#2f9a63", "#8a4fb3",
                                   "#a3922a", "#b32f6a", "#2f9ab3", "#6b6b6b"};

/// The nodes of one tier that are drawn, left to right, and where.
struct Row {
  Tier tier;
  std::vector<std::uint32_t> shown;
  std::uint32_t count;
  double y;

  double width() const { return static_cast<double>(shown.size()) * kColumn; }
  double x_of(std::size_t position, double panel_width) const {
    return (panel_width - width()) / 2 + (static_cast<double>(position) + 0.5) * kColumn;
  }
};

std::vector<std::uint32_t> shown_of(std::uint32_t count, std::uint32_t most) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (count > most && i == most - 1) i = count - 1;  // the last one stands for the rest
    out.push_back(i);
  }
  return out;
}

class Picture {
 public:
  Picture(const Topology& topo, const DrawSettings& settings)
      : topo_(topo), most_(std::max(settings.max_per_row, 2u)) {
    planes_ = shown_of(topo.planes(), std::max(settings.max_planes, 2u));
    for (int tier = static_cast<int>(topo.tiers()); tier >= 0; --tier) add_row(static_cast<Tier>(tier));
    for (const Row& r : rows_) panel_width_ = std::max(panel_width_, r.width());
  }

  std::string write() {
    const double width = kMargin + static_cast<double>(planes_.size()) * (panel_width_ + kMargin);
    const double height = kTitle + static_cast<double>(rows_.size()) * kRow;
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << height
         << "\" width=\"" << width << "\" height=\"" << height
         << "\" font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\"100%\" "
         << "height=\"100%\" fill=\"white\"/>\n";
    for (std::size_t i = 0; i < planes_.size(); ++i) panel(i);
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  void add_row(Tier tier) {
    const std::uint32_t count = tier == Tier::host ? topo_.hosts() : topo_.switches(tier);
    const double y = kTitle + static_cast<double>(rows_.size()) * kRow + kRow / 2;
    rows_.push_back({tier, shown_of(count, most_), count, y});
  }

  void panel(std::size_t i) {
    const double left = kMargin + static_cast<double>(i) * (panel_width_ + kMargin);
    const char* color = kColors[planes_[i] % std::size(kColors)];
    out_ << "<g transform=\"translate(" << left << ",0)\">\n<text x=\"0\" y=\"20\" font-size=\"14\" fill=\""
         << color << "\">plane " << planes_[i] << "</text>\n";
    for (std::size_t r = 0; r + 1 < rows_.size(); ++r) cables(planes_[i], rows_[r], rows_[r + 1], color);
    for (const Row& row : rows_) nodes(planes_[i], row, color);
    out_ << "</g>\n";
  }

  Node node(Plane p, const Row& row, std::size_t position) const {
    const std::uint32_t index = row.shown[position];
    return row.tier == Tier::host ? host_node(HostId(index)) : switch_node(p, row.tier, index);
  }

  void cables(Plane p, const Row& upper, const Row& lower, const char* color) {
    for (std::size_t l = 0; l < lower.shown.size(); ++l) {
      for (std::size_t u = 0; u < upper.shown.size(); ++u) {
        const std::string name = topo_.name(node(p, lower, l)) + "-" + topo_.name(node(p, upper, u));
        if (!topo_.find_link(name)) continue;
        out_ << "<line x1=\"" << lower.x_of(l, panel_width_) << "\" y1=\"" << lower.y - kHeight / 2
             << "\" x2=\"" << upper.x_of(u, panel_width_) << "\" y2=\"" << upper.y + kHeight / 2
             << "\" stroke=\"" << color << "\" stroke-opacity=\"0.5\"><title>" << name << "</title></line>\n";
      }
    }
  }

  void nodes(Plane p, const Row& row, const char* color) {
    for (std::size_t i = 0; i < row.shown.size(); ++i) {
      const double x = row.x_of(i, panel_width_);
      const std::string name = topo_.name(node(p, row, i));
      const bool host = row.tier == Tier::host;
      out_ << "<rect x=\"" << x - kBox / 2 << "\" y=\"" << row.y - kHeight / 2 << "\" width=\"" << kBox
           << "\" height=\"" << kHeight << "\" rx=\"4\" fill=\"" << (host ? "#f4f4f4" : "white")
           << "\" stroke=\"" << color << "\"><title>" << name << "</title></rect>\n<text x=\"" << x
           << "\" y=\"" << row.y + 4 << "\" text-anchor=\"middle\">"
           << (host ? name : name.substr(name.find('.') + 1)) << "</text>\n";
    }
    if (row.shown.size() < row.count) {
      out_ << "<text x=\""
           << (row.x_of(row.shown.size() - 2, panel_width_) + row.x_of(row.shown.size() - 1, panel_width_)) /
                  2
           << "\" y=\"" << row.y + 4 << "\" text-anchor=\"middle\">…</text>\n<text x=\"" << panel_width_ / 2
           << "\" y=\"" << row.y + kHeight / 2 + 14 << "\" text-anchor=\"middle\" fill=\"#666\">"
           << row.shown.size() << " of " << row.count << " drawn</text>\n";
    }
  }

  const Topology& topo_;
  std::uint32_t most_;
  std::vector<std::uint32_t> planes_;
  std::vector<Row> rows_;
  double panel_width_ = 2 * kColumn;
  std::ostringstream out_;
};

}  // namespace

std::string draw_svg(const Topology& topo, const DrawSettings& settings) {
  return Picture(topo, settings).write();
}

}  // namespace mrc::topo
