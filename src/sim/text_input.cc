#include "sim/text_input.h"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace mrc::sim {

Result<std::string> read_text(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return Error{EISDIR, path + ": is a directory; name a file in it"};
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{errno, path + ": " + std::strerror(errno) + "; check the name and that it may be read"};
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return Error{EIO, path + ": could not be read to its end"};
  return std::move(text).str();
}

namespace {

std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  return line.substr(0, line.find("//"));
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlank); at != line.npos;) {
    const std::size_t end = line.find_first_of(kBlank, at);
    words.push_back(line.substr(at, end - at));
    at = end == line.npos ? end : line.find_first_not_of(kBlank, end);
  }
  return words;
}

}  // namespace

std::vector<TextLine> words_by_line(std::string_view text) {
  std::vector<TextLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    auto words = words_of(without_comment(text.substr(0, end)));
    if (!words.empty()) lines.push_back({number, std::move(words)});
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

namespace {

/// Words of a file that is no text at all must not reach a terminal as they are, nor fill it.
std::string printable(std::string_view what) {
  constexpr std::size_t kLongest = 200;
  std::string out(what.substr(0, kLongest));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  }
  return what.size() > kLongest ? out + "..." : out;
}

}  // namespace

Error error_at(std::string_view file, int line, std::string_view what, std::string_view remedy) {
  std::ostringstream text;
  text << file << ':' << line << ": " << printable(what) << "; " << remedy;
  return {EINVAL, std::move(text).str()};
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool is_digits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

std::optional<std::uint64_t> parse_real(std::string_view word) {
  if (const auto whole = parse_number(word)) return whole;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (!(value >= 0) || value >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value));
}

std::string lower_case(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace mrc::sim
