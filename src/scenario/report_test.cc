// Pages: what they show, and that nothing of a person's text breaks them.
#include "scenario/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/compare.h"
#include "scenario/document.h"
#include "scenario/html.h"
#include "scenario/paper.h"
#include "scenario/plot.h"

namespace mrc::scenario {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kText = R"(name = "a < b & \"c\""
[topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
[[job]]
name = "<ring>"
kind = "ring_allreduce"
bytes = 400000
[[fault]]
kind = "down"
target = "p1.t1.0"
at = "5us"
for = "5us"
[[expect]]
figure = "unfinished"
max = 0
)";

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Report, ShowsARun) {
  const auto document = Document::parse(kText, "x.toml");
  const auto s = document->scenario();
  ASSERT_TRUE(s) << s.error().what;
  auto prepared = prepare(*s);
  const Outcome o = run(*s, *prepared, {.samples = true});
  const std::string html = report(*s, prepared->topology, o, toml_text(document->root()));
  EXPECT_THAT(html, HasSubstr("<h1>a &lt; b &amp; &quot;c&quot;</h1>"));
  EXPECT_THAT(html, Not(HasSubstr("<ring>")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme:dark"));
  for (const char* plot :
       {"Goodput of all hosts", "by plane", "Largest data queue", "Completion times", "Trims, losses"})
    EXPECT_THAT(html, HasSubstr(plot));
  EXPECT_THAT(html, HasSubstr("p1.t1.0 down"));
  EXPECT_THAT(html, HasSubstr("p1.t1.0 healed"));
  EXPECT_EQ(count(html, "<svg"), 6u);
  EXPECT_EQ(count(html, "<svg"), count(html, "</svg>"));
  for (const char* wrong : {"nan", "inf\"", "http://", "https://"}) EXPECT_THAT(html, Not(HasSubstr(wrong)));
}

TEST(Plot, DrawsNothingAndOnePoint) {
  EXPECT_THAT(svg(LinePlot{}), HasSubstr("</svg>"));
  EXPECT_THAT(svg(LinePlot{"c", "x", "y", {{"l", {{5, 0}}}}, {}}), Not(HasSubstr("nan")));
  EXPECT_EQ(svg(HeatMap{}), "");
  EXPECT_THAT(svg(BarPlot{"c", "u", {{"none", 0, false}}}), Not(HasSubstr("nan")));
  EXPECT_DOUBLE_EQ(round_step(1000, 10), 100);
  EXPECT_DOUBLE_EQ(round_step(7, 5), 2);
}

TEST(Compare, LabelsHaveTheFewestDigits) {
  const Point p{
      {{"fault.0.amount", "0.00050000000000000001"}, {"transport.evs", "8"}, {"topology.rate", "\"100G\""}},
      "",
      ""};
  EXPECT_EQ(p.label(), "amount 0.0005, evs 8, rate 100G");
}

TEST(Compare, PutsPointsSideBySide) {
  Scenario s;
  s.name = "sweep";
  s.outputs.figures = {"goodput_gbps"};
  const std::vector<Point> points = {{{{"transport.evs", "8"}}, R"({"goodput_gbps":5,"passed":true})", ""},
                                     {{{"transport.evs", "16"}}, "", "its process failed"}};
  EXPECT_EQ(sweep_csv(s, points), "transport.evs,goodput_gbps,passed\n8,5,1\n16,,0\n");
  EXPECT_THAT(sweep_json(s, points),
              HasSubstr(R"({"settings":{"transport.evs":"8"},"result":{"goodput_gbps":5)"));
  EXPECT_THAT(sweep_json(s, points), HasSubstr(R"("error":"its process failed")"));
  EXPECT_THAT(sweep_report(s, points, "text"), HasSubstr("evs 8"));
  EXPECT_THAT(sweep_text(s, points), HasSubstr("evs 16:  its process failed"));
}

TEST(Paper, HasAllResultsAndTheirBands) {
  std::vector<std::string> ids;
  for (const PaperFile& file : paper_files()) {
    for (const bool quick : {false, true}) {
      auto document = Document::parse(file.text, file.name);
      ASSERT_TRUE(document) << document.error().what;
      if (quick) {
        const auto applied = document->apply("quick");
        ASSERT_TRUE(applied) << applied.error().what;
      }
      const auto s = document->scenario();
      ASSERT_TRUE(s) << s.error().what;
      ASSERT_TRUE(s->published) << file.name;
      EXPECT_FALSE(s->published->figure.empty()) << file.name;
      if (quick) ids.push_back(s->published->id);
      const auto points = document->grid();
      ASSERT_TRUE(points) << points.error().what;
      EXPECT_TRUE(points->size() > 1 || !s->expectations.empty()) << file.name << " expects nothing";
    }
  }
  std::vector<std::string> all;
  for (int i = 1; i <= 15; ++i) all.push_back("R" + std::to_string(i));
  EXPECT_EQ(ids, all);
}

TEST(Paper, RowsTellPassedFromMissed) {
  PaperRow row;
  row.published = {.id = "R1",
                   .setting = "one pair",
                   .mrc = "96 %",
                   .figure = "of_line_rate",
                   .unit = "% of line rate",
                   .scale = 100};
  row.mrc.json =
      R"({"of_line_rate":0.97,"passed":true,"expectations":[{"figure":"of_line_rate","found":0.97,"met":true}]})";
  EXPECT_TRUE(row_passed(row));
  EXPECT_EQ(figure_text(row.published, row.mrc), "97 % of line rate");
  PaperRow bad = row;
  bad.mrc.json =
      R"({"of_line_rate":0.5,"passed":false,"expectations":[{"figure":"of_line_rate","found":0.5,"met":false}]})";
  EXPECT_FALSE(row_passed(bad));
  EXPECT_THAT(paper_text({row, bad}), HasSubstr("1 of its bands missed"));
  EXPECT_THAT(paper_text({row}), HasSubstr("RoCEv2     not run\n"));
  PaperRow told = row;
  told.published.no_baseline = "it has one path";
  EXPECT_THAT(paper_text({told}), HasSubstr("RoCEv2     not run: it has one path\n"));
  EXPECT_THAT(paper_report({row, bad}, true), HasSubstr("1 of 2"));
  EXPECT_THAT(paper_json({row}), HasSubstr("\"result\":{\"of_line_rate\":0.97"));
}

}  // namespace
}  // namespace mrc::scenario
