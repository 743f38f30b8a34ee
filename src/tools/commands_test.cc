// The command line as a user meets it: every noun explains itself, and nonsense is refused with a status.
#include "tools/commands.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using testing::Outcome;
using testing::run_mrc;

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
  }
}

TEST(Commands, UnknownNounIsAUsageError) {
  const Outcome outcome = run_mrc({"frobnicate"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("mrc --help"), std::string::npos) << outcome.err;
}

TEST(Version, SaysTheVersionInBothForms) {
  EXPECT_EQ(run_mrc({"version"}).out.rfind("mrc ", 0), 0u);
  EXPECT_EQ(run_mrc({"version", "--json"}).out.rfind("{\"version\":\"", 0), 0u);
}

}  // namespace
}  // namespace mrc::tools
