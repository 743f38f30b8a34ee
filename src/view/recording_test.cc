// Recordings come back as they were, and what is none is refused with its line.
#include "view/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mrc::view {
namespace {

class RecordingFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string path =
      (std::filesystem::temp_directory_path() / ("mrc-recording-" + std::to_string(::getpid()))).string();

  static Fabric fabric() {
    Fabric f{.name = "a fabric", .source = "simulation"};
    f.spec.planes = 2;
    f.spec.hosts = 4;
    return f;
  }
  std::string refusal(const std::string& text) {
    std::ofstream(path) << text;
    const auto opened = RecordingSource::open(path);
    return opened ? "" : opened.error().what;
  }
};

TEST_F(RecordingFile, ComesBackAsItWas) {
  const Fabric f = fabric();
  const auto topo = topo::Topology::make(f.spec);
  ASSERT_TRUE(topo);
  Frame frame;
  frame.time_ns = 5000;
  frame.plane_rate = {1e9, 2e9};
  frame.load = {0, 100, 250};
  frame.happenings.push_back({5000, "link", "says \"this\"", "p0"});
  const std::string text = to_json(frame, *topo);
  auto recorder = Recorder::open(path, f);
  ASSERT_TRUE(recorder);
  (*recorder)->add(text);
  ASSERT_TRUE((*recorder)->close());
  const auto source = RecordingSource::open(path);
  ASSERT_TRUE(source) << source.error().what;
  EXPECT_EQ((*source)->fabric().name, "a fabric");
  EXPECT_EQ((*source)->fabric().spec, f.spec);
  EXPECT_EQ((*source)->frames(), std::vector<std::string>{text});
  EXPECT_FALSE((*source)->act({.verb = Action::Verb::heal}));
}

TEST_F(RecordingFile, IsRefusedWhereItIsNone) {
  EXPECT_NE(refusal("").find(":1: the recording is empty"), std::string::npos);
  EXPECT_NE(refusal("hello\n").find(":1: this is no recording"), std::string::npos);
  EXPECT_NE(refusal("{\"format\":\"openmrc.view.1\",\"name\":\"x\",\"toml\":\"[topology]\\nplanes = 0\"}\n")
                .find(":1:"),
            std::string::npos);
  const std::string head = to_json(fabric()) + "\n";
  EXPECT_NE(refusal(head + "{}\n{}\n").find(":2: this is no frame"), std::string::npos);
  EXPECT_EQ(refusal(head + "{\"n\":1,\"t\":2,\"lo"), "");  // cut off in its last line
}

TEST(Actions, AreReadStrictly) {
  const auto good = parse_action(R"({"verb":"fail","target":"p0.t1.2","loss":0.1})");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->target, "p0.t1.2");
  EXPECT_EQ(good->loss, 0.1);
  for (const char* bad :
       {"", "[]", "{}", R"({"verb":"dance"})", R"({"verb":"fail","target":1})", R"({"verb":"fail","loss":2})",
        R"({"verb":"pace"})", R"({"verb":"pace","pace":1e9})", R"({"verb":"focus","plane":-1})",
        R"({"verb":"focus","plane":99999999999})"})
    EXPECT_FALSE(parse_action(bad)) << bad;
  EXPECT_FALSE(parse_action(R"({"verb":"fail","target":")" + std::string(100, 'x') + "\"}"));
}

}  // namespace
}  // namespace mrc::view
