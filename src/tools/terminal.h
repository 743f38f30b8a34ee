// A terminal as a screen: size, keys, and redrawing in place. Plain ANSI, so that it works over ssh.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace mrc::tools {

/// "████····", `value` of `most`.
std::string bar(double value, double most, int width);

/// Cuts a line to `columns` as they are shown: escape sequences and the tails of UTF-8 characters take none.
std::string fit(const std::string& line, int columns);

enum class Key : int { none = 0, up = 256, down, page_up, page_down, escape, enter, backspace, news };

class Terminal {
 public:
  /// Takes the terminal over: another screen, keys one by one, no cursor. The destructor gives it back.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static bool is_there();  // standard input and output are one
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  /// The next key, a character or a Key; Key::none when none came in time, Key::news when the descriptor
  /// `news` became readable before. Also looks at the size.
  int wait_key(std::chrono::milliseconds wait, int news = -1);
  /// One write for the whole screen; lines beyond it are left out.
  void show(const std::vector<std::string>& lines);

 private:
  void look_at_size();
  int take_key();

  termios before_{};
  std::string pending_;  // typed, not yet taken
  int columns_ = 80, rows_ = 24;
};

}  // namespace mrc::tools
