#include "tools/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace mrc::tools {

std::string bar(double value, double most, int width) {
  const int full = most > 0 ? static_cast<int>(std::clamp(value / most, 0.0, 1.0) * width + 0.5) : 0;
  std::string out;
  for (int i = 0; i < width; ++i) out += i < full ? "\u2588" : "\u00b7";
  return out;
}

std::string fit(const std::string& line, int columns) {
  std::string out;
  bool escape = false;
  int used = 0;
  for (const char c : line) {
    const bool tail = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (c == '\033') escape = true;
    if (!escape && !tail && ++used > columns) break;
    out += c;
    if (escape && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) escape = false;
  }
  return out;
}

bool Terminal::is_there() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

Terminal::Terminal() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  (void)!::write(STDOUT_FILENO, "\033[?1049h\033[?25l\033[2J", 18);
  look_at_size();
}

Terminal::~Terminal() {
  (void)!::write(STDOUT_FILENO, "\033[?25h\033[?1049l", 14);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Terminal::look_at_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  columns_ = size.ws_col;
  rows_ = size.ws_row;
}

int Terminal::wait_key(std::chrono::milliseconds wait, int news) {
  if (!pending_.empty()) return take_key();
  pollfd inputs[] = {{STDIN_FILENO, POLLIN, 0}, {news, POLLIN, 0}};  // poll passes over a descriptor of -1
  const int ready = ::poll(inputs, 2, static_cast<int>(wait.count()));
  look_at_size();
  if (ready <= 0) return 0;
  if (inputs[0].revents == 0) return static_cast<int>(Key::news);
  char bytes[64];
  const ssize_t n = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (n <= 0) return 'q';  // whoever held the terminal is gone
  pending_.assign(bytes, static_cast<std::size_t>(n));
  return take_key();
}

/// The first key of what was typed, or pasted.
int Terminal::take_key() {
  static constexpr std::pair<std::string_view, Key> kKeys[] = {
      {"\033[A", Key::up},         {"\033[B", Key::down},    {"\033[5~", Key::page_up},
      {"\033[6~", Key::page_down}, {"\033", Key::escape},    {"\r", Key::enter},
      {"\n", Key::enter},          {"\177", Key::backspace}, {"\b", Key::backspace}};
  for (const auto& [bytes, key] : kKeys) {
    if (!pending_.starts_with(bytes)) continue;
    pending_.erase(0, bytes.size());
    return static_cast<int>(key);
  }
  const int key = static_cast<unsigned char>(pending_[0]);
  pending_.erase(0, 1);
  return key;
}

void Terminal::show(const std::vector<std::string>& lines) {
  std::string out = "\033[H";
  for (std::size_t i = 0; i < lines.size() && i < static_cast<std::size_t>(rows_); ++i) {
    if (i > 0) out += "\r\n";
    out += fit(lines[i], columns_) + "\033[0m\033[K";
  }
  out += "\033[J";
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, out.data() + at, out.size() - at);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace mrc::tools
