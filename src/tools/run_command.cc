// From argv to the noun that it names: builds the command line from the table and runs what was asked.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "tools/commands.h"
#include "tools/plain_help.h"

namespace mrc::tools {
namespace {

struct Described {
  CLI::App* app;
  Run run;
};

std::vector<Described> describe_all(CLI::App& mrc) {
  std::vector<Described> described;
  std::vector<Command> commands(std::begin(kCommands), std::end(kCommands));
  std::sort(commands.begin(), commands.end(),
            [](const Command& a, const Command& b) { return std::string_view(a.noun) < b.noun; });
  for (const Command& command : commands) {
    CLI::App* app = mrc.add_subcommand(command.noun, command.summary);
    described.push_back({app, command.describe(*app)});
    app->footer(app->get_footer() + "\n");
  }
  return described;
}

/// CLI11 would only say that a subcommand is missing; name the word that is wrong.
bool is_unknown(std::string_view word) {
  if (word.empty() || word.front() == '-') return false;
  return std::none_of(std::begin(kCommands), std::end(kCommands),
                      [&](const Command& c) { return c.noun == word; });
}

int run_parsed(const std::vector<Described>& nouns) {
  for (const Described& noun : nouns) {
    if (!noun.app->parsed()) continue;
    try {
      return noun.run();
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "mrc %s: there is not enough memory for this: ask for something smaller\n",
                   noun.app->get_name().c_str());
      return 1;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "mrc %s: %s\n", noun.app->get_name().c_str(), e.what());
      return 1;
    }
  }
  return kUsageError;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  CLI::App mrc{"MRC (Multipath Reliable Connection) in software", "mrc"};
  mrc.require_subcommand(1);
  mrc.formatter(std::make_shared<PlainHelp>());
  mrc.set_version_flag("--version", "mrc " MRC_VERSION);
  mrc.footer(
      "`mrc NOUN --help` explains one of them.\n"
      "Exit status: 0 done, 1 failed (a sentence on standard error says what to do), 2 wrong usage.\n"
      "Example: mrc pair --loss 0.01\n");
  const std::vector<Described> nouns = describe_all(mrc);
  if (argc == 1 || (argc == 2 && std::string_view(argv[1]) == "help")) {
    std::fputs(mrc.help().c_str(), stdout);
    return 0;
  }
  if (argc == 3 && std::string_view(argv[1]) == "help" && !is_unknown(argv[2])) {
    const char* const asked[] = {argv[0], argv[2], "--help"};
    return run_command(3, asked);
  }
  if (is_unknown(argv[1])) {
    std::fprintf(stderr, "mrc: there is no '%s'; `mrc --help` lists what there is\n", argv[1]);
    return kUsageError;
  }
  try {
    mrc.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return mrc.exit(e) == 0 ? 0 : kUsageError;
  }
  return run_parsed(nouns);
}

}  // namespace mrc::tools
