#include "lib/ctl_ev_ops.h"

#include <algorithm>
#include <cerrno>

#include "lib/ctl_values.h"

namespace mrc::lib {
namespace {

bool is_query(mrc_ctl_ev_op op) {
  return op == MRC_CTL_EV_OP_QUERY_EV_STATE || op == MRC_CTL_EV_OP_QUERY_EV_ARRAY;
}

int check_entries(const mrc_ctl_ev_profile_attr& attr, const node::ProfileLimits& limits) {
  if (attr.ev_op.entries == nullptr || attr.ev_op.entry_count < 1) return EINVAL;
  return static_cast<std::uint32_t>(attr.ev_op.entry_count) > limits.op_entries ? E2BIG : 0;
}

/// MRC-CTL-014: an entry that says nothing sensible is handed on as one that can't be applied (no port, no
/// state to go to): it fails in its turn, after those before it, and is the one that is reported.
void read_entry(const mrc_ctl_ev_op_entry& entry, mrc_ctl_ev_op op, node::EvChange& out) {
  const bool sensible = (entry.flags & ~std::uint32_t{MRC_CTL_EV_OP_F_ALL_COPIES}) == 0;
  if (op == MRC_CTL_EV_OP_REPLACE_EV) {
    const bool all = (entry.flags & MRC_CTL_EV_OP_F_ALL_COPIES) != 0;
    out.replaces.push_back({to_value(entry.ev), sensible ? to_value(entry.ev_new) : node::EvValue{}, all});
    return;
  }
  const auto state = to_ev_state(entry.state).value_or(node::EvState::unknown);
  out.states.push_back({to_value(entry.ev), sensible ? state : node::EvState::unknown});
}

int answer_states(const node::EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  for (int i = 0; i < attr.ev_op.entry_count; ++i) {
    const auto wanted = to_value(attr.ev_op.entries[i].ev);
    const auto found = std::find_if(profile.slots.begin(), profile.slots.end(),
                                    [&](const node::EvSlotState& slot) { return slot.value == wanted; });
    if (found == profile.slots.end()) {
      attr.ev_op.entry_count = i;
      return ENOENT;
    }
    attr.ev_op.entries[i].state = from_ev_state(found->state());
  }
  return 0;
}

int answer_array(const node::EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  const auto count = static_cast<int>(profile.slots.size());
  const bool room = attr.ev_op.entry_count >= count;
  if (room && count > 0 && attr.ev_op.entries == nullptr) return EINVAL;
  attr.ev_op.entry_count = count;
  if (!room) return E2BIG;
  for (int i = 0; i < count; ++i) {
    const auto& slot = profile.slots[static_cast<std::size_t>(i)];
    attr.ev_op.entries[i] = {};
    attr.ev_op.entries[i].ev = from_value(slot.value);
    attr.ev_op.entries[i].state = from_ev_state(slot.state());
  }
  return 0;
}

}  // namespace

int read_ev_op(const mrc_ctl_ev_profile_attr& attr, const node::ProfileLimits& limits, node::EvChange& out) {
  const auto op = attr.ev_op.op;
  if (is_query(op)) return 0;
  if (op != MRC_CTL_EV_OP_REPLACE_EV && op != MRC_CTL_EV_OP_MODIFY_EV_STATE) return EINVAL;
  if (const int error = check_entries(attr, limits); error != 0) return error;
  for (int i = 0; i < attr.ev_op.entry_count; ++i) read_entry(attr.ev_op.entries[i], op, out);
  return 0;
}

int read_fields_op(const mrc_ctl_ev_profile_attr& attr, const node::ProfileLimits& limits,
                   node::EvChange& out) {
  const auto& op = attr.ev_fields_op;
  if (op.op == MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS) return 0;
  if (op.op != MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS || op.fields == nullptr || op.field_count < 1)
    return EINVAL;
  if (static_cast<std::uint32_t>(op.field_count) > limits.format_fields) return E2BIG;
  out.fields.emplace();
  for (int i = 0; i < op.field_count; ++i) out.fields->push_back(to_field(op.fields[i]));
  return 0;
}

int answer_ev_op(const node::EvProfile& profile, const node::ProfileLimits& limits,
                 mrc_ctl_ev_profile_attr& attr) {
  if (attr.ev_op.op == MRC_CTL_EV_OP_QUERY_EV_ARRAY) return answer_array(profile, attr);
  if (attr.ev_op.op != MRC_CTL_EV_OP_QUERY_EV_STATE) return EINVAL;
  if (const int error = check_entries(attr, limits); error != 0) return error;
  return answer_states(profile, attr);
}

int answer_fields_op(const node::EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  auto& op = attr.ev_fields_op;
  if (op.op != MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS) return EINVAL;
  const auto count = static_cast<int>(profile.fields.size());
  const bool room = op.field_count >= count;
  if (room && count > 0 && op.fields == nullptr) return EINVAL;
  op.field_count = count;
  if (!room) return E2BIG;
  for (int i = 0; i < count; ++i) op.fields[i] = from_field(profile.fields[static_cast<std::size_t>(i)]);
  return 0;
}

}  // namespace mrc::lib
