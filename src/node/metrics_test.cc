// Metrics as text: the two forms, hostile names, and where they may be served.
#include "node/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/metrics_page.h"

namespace mrc::node {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string one_counter(TextForm form, std::string_view label) {
  Exposition out(form);
  out.counter("mrc_x_bytes", "Bytes.", "bytes");
  out.sample({{"program", label}}, std::uint64_t{7});
  return out.end();
}

TEST(Exposition, TheTwoFormsDifferInTheirTitles) {
  EXPECT_EQ(one_counter(TextForm::open_metrics, "a"),
            "# TYPE mrc_x_bytes counter\n# UNIT mrc_x_bytes bytes\n# HELP mrc_x_bytes Bytes.\n"
            "mrc_x_bytes_total{program=\"a\"} 7\n# EOF\n");
  EXPECT_EQ(one_counter(TextForm::prometheus, "a"),
            "# TYPE mrc_x_bytes_total counter\n# HELP mrc_x_bytes_total Bytes.\n"
            "mrc_x_bytes_total{program=\"a\"} 7\n");
}

TEST(Exposition, ALabelCannotBreakOut) {
  EXPECT_THAT(one_counter(TextForm::open_metrics, "a\"} 9\nmrc_y{b=\"\\\xFF\x01"),
              HasSubstr(R"({program="a\"} 9\nmrc_y{b=\"\\??"} 7)"));
}

TEST(Exposition, TheReaderSaysWhichForm) {
  EXPECT_EQ(form_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"), TextForm::open_metrics);
  EXPECT_EQ(form_for(""), TextForm::prometheus);
  EXPECT_EQ(form_for("*/*"), TextForm::prometheus);
}

TEST(Metrics, AQpTellsItsPathsByState) {  // MRC-NODE-008
  ProcessFacts process;
  process.pid = 5;
  process.device = "mrc0";
  QpFacts qp;
  qp.qpn = Qpn(300);
  qp.rtt_ns = 1'500;
  qp.repeats = 7;
  qp.evs_in_state = {100, 1, 2, 3};
  process.qps.push_back(qp);
  const std::string text = qp_metrics({process}, TextForm::open_metrics);
  EXPECT_THAT(text,
              HasSubstr("mrc_qp_rtt_seconds{device=\"mrc0\",pid=\"5\",qpn=\"300\",peer=\"::\"} 1.5e-06\n"));
  EXPECT_THAT(text, HasSubstr("peer=\"::\",state=\"assumed_bad\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("mrc_qp_repeats_total{device=\"mrc0\",pid=\"5\",qpn=\"300\",peer=\"::\"} 7\n"));
}

TEST(MetricsPage, WhereItMayBeServed) {
  EXPECT_EQ(parse_metrics_address("9464")->address, "127.0.0.1");
  EXPECT_EQ(parse_metrics_address(":9464")->address, "127.0.0.1");
  EXPECT_EQ(parse_metrics_address("10.0.0.1:80")->address, "10.0.0.1");
  EXPECT_EQ(parse_metrics_address("[::1]:9464")->address, "::1");
  EXPECT_EQ(parse_metrics_address("[::1]:9464")->port, 9464);
  for (const char* wrong : {"", ":", "x", "127.0.0.1", "127.0.0.1:", "1:99999", "::1", "9464x", "-1"})
    EXPECT_FALSE(parse_metrics_address(wrong) && parse_metrics_address(wrong)->address == "127.0.0.1")
        << wrong;
}

TEST(MetricsPage, OnlyReadsAndOnlyByANameOfThisMachine) {
  MetricsPage page;
  page.add("/metrics", [](TextForm) { return std::string("text"); });
  const auto server = page.listen("0");
  ASSERT_TRUE(server);
  http::Request request;
  request.method = "GET";
  request.path = "/metrics";
  EXPECT_EQ(page.handle(request).body, "text");
  request.headers = {{"host", "evil.example"}};
  EXPECT_EQ(page.handle(request).status, 403);
  request.headers = {{"host", "localhost:9464"}};
  EXPECT_EQ(page.handle(request).status, 200);
  request.method = "POST";
  EXPECT_EQ(page.handle(request).status, 405);
  request.method = "GET";
  request.path = "/metrics/";
  EXPECT_EQ(page.handle(request).status, 404);
}

}  // namespace
}  // namespace mrc::node
