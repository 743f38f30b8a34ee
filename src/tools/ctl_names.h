// The words of `mrc ctl` for states, modes and EVs: the same in tables, in JSON, in files and as arguments.
#pragma once

#include <mrc_ctl.h>

#include <optional>
#include <string>
#include <string_view>

#include "node/messages.h"

namespace mrc::tools {

const char* name_of(node::ProfileState state);
const char* name_of(node::ProfileKind kind);
const char* name_of(node::EvState state);
std::optional<node::ProfileKind> profile_kind(std::string_view word);
std::optional<node::EvState> ev_state(std::string_view word);

const char* format_mode_name(mrc_ctl_ev_fmt_mode mode);
std::optional<mrc_ctl_ev_fmt_mode> format_mode(std::string_view word);
const char* ev_mode_name(mrc_ctl_ev_mode mode);
std::optional<mrc_ctl_ev_mode> ev_mode(std::string_view word);

/// An EV is a string of bits; its hex digits begin with the first bits: "0x1234" sets the first sixteen.
std::string ev_text(const node::EvBits& bits);
std::optional<node::EvBits> ev_bits(std::string_view text);

}  // namespace mrc::tools
