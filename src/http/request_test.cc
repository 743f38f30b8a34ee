// Requests from bytes, whole and in pieces, and what is refused.
#include "http/request.h"

#include <gtest/gtest.h>

#include "http/response.h"

namespace mrc::http {
namespace {

using State = RequestParser::State;

struct Parsed {
  State state = State::more;
  int status = 0;
  Request request;
  std::string rest;
};

Parsed parse(std::string_view text, std::size_t piece = SIZE_MAX, const Limits& limits = {}) {
  RequestParser parser(limits);
  Parsed out;
  while (!text.empty() && out.state == State::more) {
    std::string_view part = text.substr(0, piece);
    const std::size_t before = part.size();
    out.state = parser.take(part);
    text.remove_prefix(before - part.size());
  }
  out.status = parser.status();
  if (out.state == State::complete) out.request = parser.request();
  out.rest = text;
  return out;
}

TEST(HttpRequest, IsReadWhole) {
  const Parsed p = parse("GET /a%20b?x=1&y=%41 HTTP/1.1\r\nHost: here\r\nCookie: k=v; token=t\r\n\r\n");
  ASSERT_EQ(p.state, State::complete);
  EXPECT_EQ(p.request.method, "GET");
  EXPECT_EQ(p.request.path, "/a b");
  EXPECT_EQ(p.request.parameter("y"), "A");
  EXPECT_EQ(p.request.parameter("z"), std::nullopt);
  EXPECT_EQ(p.request.header("host"), "here");
  EXPECT_EQ(p.request.cookie("token"), "t");
  EXPECT_TRUE(p.request.keep_alive);
}

TEST(HttpRequest, IsTheSameInPieces) {
  const std::string text =
      "POST /act HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n";
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Parsed p = parse(text, piece);
    ASSERT_EQ(p.state, State::complete) << piece;
    EXPECT_EQ(p.request.body, "hello");
    EXPECT_TRUE(p.rest.starts_with("GET /"));  // the next request is left alone
  }
}

TEST(HttpRequest, OfVersionOneZeroClosesUnlessAsked) {
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n").request.keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").request.keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").request.keep_alive);
}

TEST(HttpRequest, ThatMakesNoSenseIsRefused) {
  const auto status = [](std::string_view text) {
    const Parsed p = parse(text);
    return p.state == State::refused ? p.status : 0;
  };
  EXPECT_EQ(status("NONSENSE\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);  // no host
  EXPECT_EQ(status("GET http://elsewhere/ HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status("GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nNo colon\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\n folded: x\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"), 501);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n"), 417);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n"), 400);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n"), 413);
}

TEST(HttpRequest, DoesNotClimbOutOfItsFolder) {
  for (const char* path : {"/../etc/passwd", "/a/../../b", "/%2e%2e/x", "/a/..", "/./x", "/a%5c..%5cb"}) {
    const Parsed p = parse("GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(p.state, State::refused) << path;
  }
  EXPECT_EQ(parse("GET /a..b/...c HTTP/1.1\r\nHost: h\r\n\r\n").state, State::complete);
}

TEST(HttpRequest, IsBounded) {
  const Limits limits{.head_bytes = 200, .headers = 3, .body_bytes = 10};
  EXPECT_EQ(parse("GET /" + std::string(500, 'a'), 7, limits).status, 431);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\na: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\n\r\n", 7, limits).status, 431);
  EXPECT_EQ(parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", 7, limits).status, 413);
}

TEST(HttpResponse, SaysItsLengthAndThatNobodyMayKeepIt) {
  const std::string bytes = to_bytes(text_response(404, "no such page"), true, false);
  EXPECT_TRUE(bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_NE(bytes.find("Content-Length: 13\r\n"), std::string::npos);
  EXPECT_NE(bytes.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\nno such page\n"));
  EXPECT_TRUE(to_bytes(text_response(200, "x"), true, true).ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace mrc::http
