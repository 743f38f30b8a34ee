// The command line as a user meets it: every noun explains itself, and nonsense is refused with a status.
#include "tools/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using testing::Outcome;
using testing::run_mrc;

bool is_readable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\n'; });
}

TEST(Commands, WithoutArgumentsListsEveryNoun) {
  const Outcome outcome = run_mrc({});
  EXPECT_EQ(outcome.status, 0);
  for (const Command& command : kCommands) EXPECT_NE(outcome.out.find(command.noun), std::string::npos);
}

TEST(Commands, EveryNounHelpsWithAnExample) {
  for (const Command& command : kCommands) {
    const Outcome outcome = run_mrc({command.noun, "--help"});
    EXPECT_EQ(outcome.status, 0) << command.noun;
    EXPECT_NE(outcome.out.find(std::string("Example: mrc ") + command.noun), std::string::npos)
        << outcome.out;
    EXPECT_TRUE(is_readable(outcome.out)) << command.noun;
  }
  EXPECT_TRUE(is_readable(run_mrc({"conform", "run", "--help"}).out));  // defaults that are bytes
}

TEST(Commands, NounsAreInOrder) {
  const std::string help = run_mrc({"help"}).out;
  EXPECT_LT(help.find("\n  storm "), help.find("\n  switch "));
  EXPECT_LT(help.find("\n  switch "), help.find("\n  top "));
}

TEST(Commands, OptionsSayWhatTheyTakeInPlainWords) {
  const std::string perf = run_mrc({"perf", "--help"}).out;
  for (const char* words :
       {"--depth 1..16384", "--seconds 0.01..86400", "--mtu {256,512,1024,2048,4096}", "--no-icrc "})
    EXPECT_NE(perf.find(words), std::string::npos) << words << " in " << perf;
  EXPECT_NE(run_mrc({"lab", "up", "--help"}).out.find("planes, one NIC port each (1)"), std::string::npos);
}

TEST(Commands, HelpOfANounIsItsHelp) {
  EXPECT_EQ(run_mrc({"help", "perf"}).out, run_mrc({"perf", "--help"}).out);
  EXPECT_EQ(run_mrc({"help", "frobnicate"}).status, 2);
}

TEST(Commands, UnknownNounIsAUsageError) {
  const Outcome outcome = run_mrc({"frobnicate"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("mrc --help"), std::string::npos) << outcome.err;
}

TEST(Version, SaysTheVersionInBothForms) {
  EXPECT_EQ(run_mrc({"version"}).out.rfind("mrc ", 0), 0u);
  EXPECT_EQ(run_mrc({"--version"}).out.rfind("mrc ", 0), 0u);
  EXPECT_EQ(run_mrc({"version", "--json"}).out.rfind("{\"version\":\"", 0), 0u);
}

TEST(Manual, EveryNounHasAPage) {
  const std::string folder = ::testing::TempDir() + "/man";
  ASSERT_EQ(run_mrc({"manual", "man", "--to", folder}).status, 0);
  for (const Command& command : kCommands) {
    std::ifstream page(folder + "/mrc-" + command.noun + ".1");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    EXPECT_NE(text.find(".SH EXAMPLES"), std::string::npos) << command.noun;
  }
  EXPECT_EQ(run_mrc({"manual", "man", "--to", "/dev/null/no"}).status, 1);
}

/// What bash would offer after these words.
std::string completed(const std::string& words, int index) {
  const std::string script = ::testing::TempDir() + "/completion.bash";
  std::ofstream(script) << run_mrc({"manual", "completion", "bash"}).out << "COMP_WORDS=(" << words
                        << ")\nCOMP_CWORD=" << index << "\n_mrc\necho \"${COMPREPLY[*]}\"\n";
  FILE* bash = popen(("bash " + script).c_str(), "r");
  char said[1024] = {};
  const std::size_t n = fread(said, 1, sizeof said - 1, bash);
  EXPECT_EQ(pclose(bash), 0);
  return std::string(said, n);
}

TEST(Manual, BashCompletesNounsVerbsAndOptions) {
  EXPECT_EQ(completed("mrc sto", 1), "storm\n");
  EXPECT_EQ(completed("mrc lab he", 2), "heal\n");
  EXPECT_EQ(completed("mrc storm --se", 2), "--seeds\n");
  EXPECT_EQ(completed("mrc frobnicate x", 2), "\n");
}

}  // namespace
}  // namespace mrc::tools
