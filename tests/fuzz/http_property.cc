// HTTP requests: any bytes, in any pieces, give the same request or the same refusal, within the limits.
#include <algorithm>

#include "base/check.h"
#include "http/request.h"
#include "properties.h"

namespace mrc::fuzz {
namespace {

using http::Request;
using http::RequestParser;

constexpr http::Limits kLimits{.head_bytes = 300, .headers = 8, .body_bytes = 100};

struct Outcome {
  RequestParser::State state = RequestParser::State::more;
  int status = 0;
  std::size_t left = 0;
  Request request;
};

Outcome parse(std::string_view text, std::size_t piece) {
  RequestParser parser(kLimits);
  Outcome out;
  while (!text.empty() && out.state == RequestParser::State::more) {
    std::string_view part = text.substr(0, piece);
    const std::size_t before = part.size();
    out.state = parser.take(part);
    MRC_CHECK(part.size() < before || out.state == RequestParser::State::refused);
    text.remove_prefix(before - part.size());
  }
  out.left = text.size();
  if (out.state == RequestParser::State::refused) out.status = parser.status();
  if (out.state == RequestParser::State::complete) out.request = parser.request();
  return out;
}

void check_request(const Request& r) {
  MRC_CHECK(r.path.starts_with('/') && r.path.find("/../") == std::string::npos && !r.path.ends_with("/.."));
  MRC_CHECK(r.path.find('\0') == std::string::npos);
  MRC_CHECK(r.body.size() <= kLimits.body_bytes && r.headers.size() <= kLimits.headers);
  r.parameter("a");
  r.cookie("a");
}

}  // namespace

void check_http(wire::Bytes input) {
  if (input.empty()) return;
  const std::string_view text(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  const Outcome whole = parse(text, SIZE_MAX), pieces = parse(text, 1 + input[0] % 16);
  MRC_CHECK(whole.state == pieces.state);
  if (whole.state == RequestParser::State::refused) MRC_CHECK(whole.status >= 400 && whole.status < 600);
  if (whole.state != RequestParser::State::complete) return;
  MRC_CHECK(whole.left == pieces.left && whole.request.body == pieces.request.body);
  MRC_CHECK(whole.request.headers == pieces.request.headers && whole.request.path == pieces.request.path);
  check_request(whole.request);
}

}  // namespace mrc::fuzz
