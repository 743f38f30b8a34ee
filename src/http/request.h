// One HTTP/1.1 request, and the parser that takes it from bytes as they come.
//
// What a peer may send is small: a head of some kilobytes, a body as long as Content-Length says, no chunked
// bodies, no folded lines. Everything else is refused with a status, and the connection ends. Memory is
// bounded by Limits, whatever the peer says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrc::http {

struct Limits {
  std::size_t head_bytes = 16 * 1024;
  std::size_t headers = 64;
  std::size_t body_bytes = 64 * 1024;
};

struct Request {
  std::string method;
  std::string path;   // decoded, begins with '/', without "." and ".." segments
  std::string query;  // as sent, without '?'
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  bool keep_alive = true;

  /// Empty when there is none; `name` in lower case.
  std::string_view header(std::string_view name) const;
  /// A parameter of the query, decoded.
  std::optional<std::string> parameter(std::string_view name) const;
  /// A cookie's value.
  std::optional<std::string> cookie(std::string_view name) const;
};

class RequestParser {
 public:
  explicit RequestParser(const Limits& limits = {}) : limits_(limits) {}

  enum class State { more, complete, refused };
  /// Takes bytes off the front of `input` until a request is complete; what follows it stays there.
  State take(std::string_view& input);
  State state() const { return state_; }
  /// REQUIRES complete. The parser is ready for the next request.
  Request request();
  /// Why it was refused: an HTTP status.
  int status() const { return status_; }
  /// Something of a request has arrived.
  bool begun() const { return !head_.empty() || state_ != State::more; }

 private:
  State refuse(int status);
  bool parse_head();
  bool parse_request_line(std::string_view line);
  bool parse_target(std::string_view target);
  bool parse_header(std::string_view line);
  bool settle_headers();
  bool settle_length();

  Limits limits_;
  State state_ = State::more;
  int status_ = 0;
  std::string head_;
  bool in_body_ = false;
  std::size_t body_left_ = 0;
  bool http10_ = false;
  Request request_;
};

/// "%41b" -> "Ab"; nothing for a broken escape or a zero byte.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace mrc::http
