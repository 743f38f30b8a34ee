// A self-contained page: escaping, tables, and the style that light and dark readers see. Nothing is loaded
// from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mrc::scenario {

std::string escaped(std::string_view text);
/// Four significant digits, with k, M, G where that is shorter.
std::string brief(double value);

enum class Tone { plain, good, bad };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  bool number = false;  // to the right
};
Cell cell(std::string text, Tone tone = Tone::plain);
Cell cell(double value);

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows);
/// One figure in large print.
struct Tile {
  std::string label, value, note;
  Tone tone = Tone::plain;
};
std::string tiles(const std::vector<Tile>& all);

std::string page(const std::string& title, const std::string& subtitle, const std::string& body);

}  // namespace mrc::scenario
