// Profiles made and unmade, call by call, as any controller would.
#include <cerrno>

#include "tools/ctl_names.h"
#include "tools/ctl_profile_file.h"

namespace mrc::tools {
namespace {

/// Steps toward ONLINE; the first that fails ends it, with the profile back in INIT.
Status make_format(mrc_context* context, FormatSpec spec) {
  mrc_ctl_ev_fmt_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.ev_fmt_mode = spec.mode;
  int failed = mrc_ctl_modify_ev_fmt_profile(context, spec.id, &attr,
                                             MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE);
  if (failed == 0) {
    attr.profile_state = MRC_CTL_PROFILE_ONLINE;
    attr.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, spec.fields.data(),
                      static_cast<int>(spec.fields.size())};
    failed = mrc_ctl_modify_ev_fmt_profile(context, spec.id, &attr,
                                           MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_OP);
  }
  if (failed == 0) return Done{};
  return ctl_error("make EV format " + std::to_string(spec.id), errno);
}

int to_offline(mrc_context* context, EvSpec& spec) {
  mrc_ctl_ev_profile_attr attr{};
  int mask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_COUNT |
             MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK;
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.ev_mode = spec.mode;
  attr.ev_count = spec.count;
  attr.ev_min_active = spec.min_active;
  attr.ev_event_mask = spec.events;
  attr.ev_fmt_profile_id = spec.format;
  if (spec.format != 0) mask |= MRC_CTL_EV_PROFILE_FMT_ID;
  attr.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, spec.fields.data(),
                       static_cast<int>(spec.fields.size())};
  if (!spec.fields.empty()) mask |= MRC_CTL_EV_PROFILE_EV_FIELDS_OP;
  return mrc_ctl_modify_ev_profile(context, spec.id, &attr, mask);
}

/// An error names the EV: its number comes back where their count was.
Status write_evs(mrc_context* context, EvSpec& spec) {
  if (spec.evs.empty()) return Done{};
  mrc_ctl_ev_profile_attr attr{};
  attr.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, spec.evs.data(), static_cast<int>(spec.evs.size())};
  if (mrc_ctl_modify_ev_profile(context, spec.id, &attr, MRC_CTL_EV_PROFILE_EV_OP) == 0) return Done{};
  const auto at = static_cast<std::size_t>(attr.ev_op.entry_count);
  if (errno != EINVAL || at >= spec.evs.size())
    return ctl_error("make EV profile " + std::to_string(spec.id), errno);
  return Error{EINVAL, "ev." + std::to_string(spec.id) + ": evs[" + std::to_string(at) +
                           "] is refused: has the device a port " + std::to_string(spec.evs[at].ev_new.port) +
                           " (`mrc ctl ports`), and the format as many bits?"};
}

Status make_ev(mrc_context* context, EvSpec spec) {
  int failed = to_offline(context, spec);
  if (failed == 0) {
    if (auto written = write_evs(context, spec); !written) return written;
  }
  if (failed == 0) {
    mrc_ctl_ev_profile_attr attr{};
    attr.profile_state = MRC_CTL_PROFILE_ONLINE;
    failed = mrc_ctl_modify_ev_profile(context, spec.id, &attr, MRC_CTL_EV_PROFILE_STATE);
  }
  if (failed == 0) return Done{};
  return ctl_error("make EV profile " + std::to_string(spec.id), errno);
}

Status make_cc(mrc_context* context, const CcSpec& spec) {
  mrc_ctl_cc_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.algorithm = spec.algorithm.empty() ? nullptr : spec.algorithm.c_str();
  attr.cc_config = spec.algorithm.empty() ? nullptr : &spec.config;
  int failed = mrc_ctl_modify_cc_profile(
      context, spec.id, &attr,
      MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG);
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  if (failed == 0) failed = mrc_ctl_modify_cc_profile(context, spec.id, &attr, MRC_CTL_CC_PROFILE_STATE);
  if (failed == 0) return Done{};
  return ctl_error("make CC profile " + std::to_string(spec.id), errno);
}

int set_state(mrc_context* context, node::ProfileKind kind, std::uint64_t id, mrc_ctl_profile_state state) {
  if (kind == node::ProfileKind::format) {
    mrc_ctl_ev_fmt_profile_attr attr{};
    attr.profile_state = state;
    return mrc_ctl_modify_ev_fmt_profile(context, id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
  }
  if (kind == node::ProfileKind::ev) {
    mrc_ctl_ev_profile_attr attr{};
    attr.profile_state = state;
    return mrc_ctl_modify_ev_profile(context, id, &attr, MRC_CTL_EV_PROFILE_STATE);
  }
  mrc_ctl_cc_profile_attr attr{};
  attr.profile_state = state;
  return mrc_ctl_modify_cc_profile(context, id, &attr, MRC_CTL_CC_PROFILE_STATE);
}

/// What exists already must not be changed by a file that fails half-way.
Status require_new(mrc_context* context, node::ProfileKind kind, std::uint64_t id) {
  int failed = 0;
  mrc_ctl_profile_state state = MRC_CTL_PROFILE_INIT;
  if (kind == node::ProfileKind::format) {
    mrc_ctl_ev_fmt_profile_attr attr{};
    failed = mrc_ctl_query_ev_fmt_profile(context, id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
    state = attr.profile_state;
  } else if (kind == node::ProfileKind::ev) {
    mrc_ctl_ev_profile_attr attr{};
    failed = mrc_ctl_query_ev_profile(context, id, &attr, MRC_CTL_EV_PROFILE_STATE);
    state = attr.profile_state;
  } else {
    mrc_ctl_cc_profile_attr attr{};
    failed = mrc_ctl_query_cc_profile(context, id, &attr, MRC_CTL_CC_PROFILE_STATE);
    state = attr.profile_state;
  }
  const std::string which = std::string(name_of(kind)) + " profile " + std::to_string(id);
  if (failed != 0) return ctl_error("look for " + which, errno);
  if (state == MRC_CTL_PROFILE_INIT) return Done{};
  return Error{EEXIST, which + " is there already: delete it first (mrc ctl profiles delete " +
                           std::string(name_of(kind)) + " " + std::to_string(id) + ")"};
}

using Made = std::vector<std::pair<node::ProfileKind, std::uint64_t>>;

template <class Spec>
Status require_all_new(mrc_context* context, node::ProfileKind kind, const std::vector<Spec>& specs) {
  for (const Spec& spec : specs) {
    if (auto fresh = require_new(context, kind, spec.id); !fresh) return fresh;
  }
  return Done{};
}

template <class Spec, class Make>
Status make_all(mrc_context* context, node::ProfileKind kind, const std::vector<Spec>& specs, Make make,
                Made& made) {
  for (const Spec& spec : specs) {
    made.emplace_back(kind, spec.id);
    if (auto done = make(context, spec); !done) return done;
  }
  return Done{};
}

Status make_file(mrc_context* context, const ProfileFile& file, Made& made) {
  using node::ProfileKind;
  if (auto fresh = require_all_new(context, ProfileKind::format, file.formats); !fresh) return fresh;
  if (auto fresh = require_all_new(context, ProfileKind::ev, file.evs); !fresh) return fresh;
  if (auto fresh = require_all_new(context, ProfileKind::cc, file.ccs); !fresh) return fresh;
  if (auto done = make_all(context, ProfileKind::format, file.formats, make_format, made); !done) return done;
  if (auto done = make_all(context, ProfileKind::ev, file.evs, make_ev, made); !done) return done;
  return make_all(context, ProfileKind::cc, file.ccs, make_cc, made);
}

}  // namespace

/// All of the file, or nothing of it: who mends it can give it again.
Status create_profiles(const CtlContext& context, const ProfileFile& file) {
  Made made;
  const Status all = make_file(context.get(), file, made);
  for (std::size_t i = made.size(); !all && i-- > 0;) {
    (void)static_cast<bool>(delete_profile(context, made[i].first, made[i].second));
  }
  return all;
}

Status delete_profile(const CtlContext& context, node::ProfileKind kind, std::uint64_t id) {
  const std::string doing = std::string("delete ") + name_of(kind) + " profile " + std::to_string(id);
  if (require_new(context.get(), kind, id)) return Error{ENOENT, "can't " + doing + ": there is none"};
  // It may be OFFLINE already, and then this step is refused and not needed.
  const int to_offline = set_state(context.get(), kind, id, MRC_CTL_PROFILE_OFFLINE);
  if (to_offline != 0 && errno != EINVAL) return ctl_error(doing, errno);
  if (set_state(context.get(), kind, id, MRC_CTL_PROFILE_INIT) == 0) return Done{};
  return ctl_error(doing, errno);
}

}  // namespace mrc::tools
