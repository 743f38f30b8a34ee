// Verbs of `mrc lab` that are longer than a line.
#pragma once

#include <set>
#include <string>

#include "lab/lab.h"
#include "tools/commands.h"

namespace mrc::tools {

/// The exit status, and a sentence on stderr where there is something to say.
int lab_failed(const Error& error);
int lab_done(const Status& status);

/// mrcd on these hosts, without files: programs there find it, `mrc web --lab` and `mrc top --lab` show what
/// it tells.
Status start_daemons(lab::Lab& lab, std::uint32_t hosts);

/// --switch: whose switches a lab has, and the tiers that the word makes ours.
void add_switch_option(CLI::App& app, std::string& word);
std::set<topo::Tier> soft_tiers(const std::string& word);

/// `mrc lab run`: a lab of its own, a transfer, the usual faults, a live picture and a summary.
Run lab_run_verb(CLI::App& app);

int print_lab_status(lab::Lab& lab, bool json);

struct LabCapture {
  std::string node, interface = "any", file;
  std::uint64_t packets = 10'000;
  double seconds = 10;
};
Status capture_in_lab(lab::Lab& lab, const LabCapture& what);

}  // namespace mrc::tools
