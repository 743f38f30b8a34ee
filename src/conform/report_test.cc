// Reports: every form counts alike, and no text of a device breaks out of its cell.
#include "conform/report.h"

#include <gtest/gtest.h>

namespace mrc::conform {
namespace {

Report example() {
  const auto checks = all_checks();
  Report report{.device = "<device> & co", .results = {}};
  report.results.push_back({checks[0], pass(), 5us, {}});
  report.results.push_back({checks[1], fail("got <b> | \"x\""), 7us, {}});
  report.results.push_back({checks[2], skip("needs a hand"), {}, {}});
  return report;
}

TEST(Report, CountsAndConforms) {
  Report report = example();
  EXPECT_EQ(closing(report), "3 checks: 1 passed, 1 failed, 1 skipped");
  EXPECT_FALSE(report.conforms());
  report.results.erase(report.results.begin() + 1);
  EXPECT_TRUE(report.conforms());
  report.results.erase(report.results.begin());
  EXPECT_FALSE(report.conforms()) << "nothing passed: that proves nothing";
}

TEST(Report, EscapesWhatDevicesSay) {
  const Captures captures = {{std::string(example().results[1].check.name), "dir/x.pcap"}};
  const std::string html = to_html(example(), captures), markdown = to_markdown(example(), captures);
  EXPECT_EQ(html.find("<device>"), std::string::npos);
  EXPECT_NE(html.find("got &lt;b> | &quot;x&quot;"), std::string::npos);
  EXPECT_NE(html.find("href=\"dir/x.pcap\""), std::string::npos);
  EXPECT_NE(markdown.find("got <b> \\| "), std::string::npos);
  EXPECT_NE(to_json(example(), captures).find("got <b> | \\\"x\\\""), std::string::npos);
}

TEST(Report, ColoursOnlyWhenAsked) {
  for (const CheckResult& r : example().results) {
    EXPECT_EQ(row(r, false).find('\033'), std::string::npos);
    EXPECT_NE(row(r, true).find('\033'), std::string::npos);
  }
}

}  // namespace
}  // namespace mrc::conform
