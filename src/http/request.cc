#include "http/request.h"

#include <algorithm>
#include <charconv>

namespace mrc::http {
namespace {

bool is_token(std::string_view s) {
  const auto ok = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !s.empty() && std::all_of(s.begin(), s.end(), ok);
}

bool is_printable(std::string_view s) {
  return std::all_of(s.begin(), s.end(),
                     [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); });
}

std::string_view trimmed(std::string_view s) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// No segment leads upwards: nobody who maps paths to files can be led astray.
bool is_plain(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view segment = path.substr(at + 1, end - at - 1);
    if (segment == "." || segment == "..") return false;
    at = end;
  }
  return path.find('\\') == std::string_view::npos;
}

/// Calls `each(name, value)` for the parts of "a=1&b=2" or "a=1; b=2".
template <class Each>
void for_each_pair(std::string_view text, char separator, Each&& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    const std::size_t equals = std::min(part.find('='), part.size());
    each(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return {};
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return {};
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

std::string_view Request::header(std::string_view name) const {
  for (const auto& [n, value] : headers) {
    if (n == name) return value;
  }
  return {};
}

std::optional<std::string> Request::parameter(std::string_view name) const {
  std::optional<std::string> found;
  for_each_pair(query, '&', [&](std::string_view n, std::string_view value) {
    if (n == name && !found) found = percent_decode(value);
  });
  return found;
}

std::optional<std::string> Request::cookie(std::string_view name) const {
  std::optional<std::string> found;
  for_each_pair(header("cookie"), ';', [&](std::string_view n, std::string_view value) {
    if (n == name && !found) found = std::string(value);
  });
  return found;
}

RequestParser::State RequestParser::refuse(int status) {
  status_ = status;
  return state_ = State::refused;
}

RequestParser::State RequestParser::take(std::string_view& input) {
  while (state_ == State::more && !in_body_ && !input.empty()) {
    const std::size_t line = input.find('\n');
    const std::size_t take = line == std::string_view::npos ? input.size() : line + 1;
    if (head_.size() + take > limits_.head_bytes) return refuse(431);
    head_.append(input.substr(0, take));
    input.remove_prefix(take);
    if (head_ == "\r\n" || head_ == "\n") head_.clear();  // an empty line before a request is no request
    if (head_.ends_with("\r\n\r\n") || head_.ends_with("\n\n")) {
      if (!parse_head()) return state_ = State::refused;
      in_body_ = true;
    }
  }
  if (state_ != State::more || !in_body_) return state_;
  const std::size_t take = std::min(body_left_, input.size());
  request_.body.append(input.substr(0, take));
  input.remove_prefix(take);
  body_left_ -= take;
  if (body_left_ == 0) state_ = State::complete;
  return state_;
}

Request RequestParser::request() {
  Request done = std::move(request_);
  *this = RequestParser(limits_);
  return done;
}

bool RequestParser::parse_head() {
  std::string_view rest = head_;
  bool first = true;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    if (!(first ? parse_request_line(line) : parse_header(line))) return false;
    first = false;
  }
  return settle_headers();
}

bool RequestParser::parse_request_line(std::string_view line) {
  status_ = 400;
  const std::size_t a = line.find(' '), b = line.rfind(' ');
  if (a == std::string_view::npos || a == b) return false;
  const std::string_view version = line.substr(b + 1);
  if (!version.starts_with("HTTP/")) return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return status_ = 505, false;
  http10_ = version == "HTTP/1.0";
  request_.method = line.substr(0, a);
  return is_token(request_.method) && parse_target(line.substr(a + 1, b - a - 1));
}

bool RequestParser::parse_target(std::string_view target) {
  const auto is_visible = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), is_visible)) return false;
  target = target.substr(0, target.find('#'));
  const std::size_t mark = std::min(target.find('?'), target.size());
  auto path = percent_decode(target.substr(0, mark));
  if (!path || !is_plain(*path)) return false;
  request_.path = std::move(*path);
  request_.query = target.substr(std::min(mark + 1, target.size()));
  return true;
}

bool RequestParser::parse_header(std::string_view line) {
  if (request_.headers.size() == limits_.headers) return status_ = 431, false;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!is_printable(value)) return false;
  request_.headers.emplace_back(lower(line.substr(0, colon)), value);
  return true;
}

bool RequestParser::settle_headers() {
  if (request_.method.empty()) return false;
  if (!http10_ && request_.header("host").empty()) return false;
  if (!request_.header("transfer-encoding").empty()) return status_ = 501, false;
  if (!request_.header("expect").empty()) return status_ = 417, false;
  const std::string connection = lower(request_.header("connection"));
  request_.keep_alive = http10_ ? connection == "keep-alive" : connection != "close";
  return settle_length();
}

// Two lengths that differ, or one that is no number, are how requests get smuggled: refused.
bool RequestParser::settle_length() {
  std::optional<std::string_view> length;
  for (const auto& [name, value] : request_.headers) {
    if (name != "content-length") continue;
    if (length && *length != value) return false;
    length = value;
  }
  if (!length) return true;
  const auto [end, problem] = std::from_chars(length->data(), length->data() + length->size(), body_left_);
  if (problem == std::errc::result_out_of_range) return status_ = 413, false;
  if (problem != std::errc() || end != length->data() + length->size() || length->empty()) return false;
  if (body_left_ > limits_.body_bytes) return status_ = 413, false;
  return true;
}

}  // namespace mrc::http
