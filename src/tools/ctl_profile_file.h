// Profiles in a file, TOML or JSON, and the calls that make them.
//
//   [format.13]                     [ev.1]                              [cc.3]
//   mode = "stev"                   mode = "explicit"                   algorithm = "uet-1.0-nscc"
//   widths = [8, 8]                 format = 13                         max_cwnd = 200000
//                                   min_active = 1
//                                   events = ["assumed_bad", "denied"]
//                                   evs = [{ ev = "0x1234", port = 1 }]
#pragma once

#include <string>
#include <vector>

#include "tools/ctl_context.h"

namespace mrc::tools {

struct FormatSpec {
  std::uint64_t id = 0;
  mrc_ctl_ev_fmt_mode mode{};
  std::vector<mrc_ctl_ev_fmt_field> fields;
};
struct EvSpec {
  std::uint64_t id = 0, format = 0;
  mrc_ctl_ev_mode mode{};
  std::uint32_t count = 0, min_active = 1;
  int events = 0;
  std::vector<mrc_ctl_ev_field> fields;
  std::vector<mrc_ctl_ev_op_entry> evs;  // replacements of unwritten slots
};
struct CcSpec {
  std::uint64_t id = 0;
  std::string algorithm;  // empty: off
  mrc_ctl_cc_nscc_cfg config{};
};
struct ProfileFile {
  std::vector<FormatSpec> formats;
  std::vector<EvSpec> evs;
  std::vector<CcSpec> ccs;
};

/// Errors name the profile and the key.
Result<ProfileFile> read_profile_file(const std::string& path);
Result<ProfileFile> parse_profiles(const std::string& text, bool toml);

/// Each to ONLINE, formats first. One that cannot be made is taken back, and so is nothing else.
Status create_profiles(const CtlContext& context, const ProfileFile& file);
/// ONLINE -> OFFLINE -> INIT.
Status delete_profile(const CtlContext& context, node::ProfileKind kind, std::uint64_t id);

}  // namespace mrc::tools
