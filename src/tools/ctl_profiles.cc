// `mrc ctl profiles`: list, show, create from a file, delete.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "base/json.h"
#include "tools/ctl_names.h"
#include "tools/ctl_profile_file.h"

namespace mrc::tools {
namespace {

using namespace node;

struct ProfileOptions {
  std::string verb = "list", device, file, kind;
  std::uint64_t id = 0;
};

/// What needs a device, told by name or the only one: where processes have others beside it, it is mrcd's own
/// that is meant.
Result<node::DaemonClient> ask_device(const CtlOptions& options, const std::string& name) {
  if (!name.empty()) return ctl_connect(options, name);
  auto client = ctl_connect(options);
  if (!client) return client;
  auto own = client->ask<node::DevicesAre>(node::GetDevices{});
  if (!own) return own.error();
  if (own->devices.empty()) {
    auto snapshot = client->snapshot(false);
    if (!snapshot) return snapshot.error();
    own->devices = std::move(snapshot->devices);
  }
  if (own->devices.empty())
    return Error{ENODEV, "mrcd has no device: start it with --devices, or the program whose device you want"};
  if (own->devices.size() > 1) return Error{EINVAL, "say --device: `mrc ctl devices` lists them"};
  return ctl_connect(options, own->devices[0].name);
}

int list(const CtlOptions& options, const ProfileOptions& o) {
  auto client = ask_device(options, o.device);
  if (!client) return ctl_fail(client.error());
  const auto all = client->ask<ProfilesAre>(GetProfiles{});
  if (!all) return ctl_fail(all.error());
  JsonWriter json;
  json.begin_object().field("free_evs", all->free_evs).begin_array("profiles");
  if (!options.json) std::printf("%-7s %20s %-8s %6s %6s\n", "KIND", "ID", "STATE", "EVS", "QPS");
  for (const ProfileLine& p : all->profiles) {
    json.begin_object().field("kind", name_of(p.kind)).field("id", p.id).field("state", name_of(p.state));
    json.field("evs", p.kind == ProfileKind::ev ? p.count : 0).field("qps", p.users).end_object();
    if (options.json) continue;
    std::printf("%-7s %20" PRIu64 " %-8s %6s %6u\n", name_of(p.kind), p.id, name_of(p.state),
                p.kind == ProfileKind::ev ? std::to_string(p.count).c_str() : "-", p.users);
  }
  if (options.json) std::puts(json.end_array().end_object().text().c_str());
  return 0;
}

void show_format(const FormatProfile& p, JsonWriter& json) {
  json.field("state", name_of(p.state));
  json.field("mode", p.mode ? format_mode_name(static_cast<mrc_ctl_ev_fmt_mode>(*p.mode)) : "-");
  json.begin_array("widths");
  for (const std::uint8_t width : p.widths) json.value(width);
  json.end_array();
}

void show_ev(const EvProfile& p, JsonWriter& json) {
  json.field("state", name_of(p.state))
      .field("mode", p.mode ? ev_mode_name(static_cast<mrc_ctl_ev_mode>(*p.mode)) : "-");
  json.field("format", p.format).field("count", p.count).field("min_active", p.min_active.value_or(0));
  json.field("qps", p.users).begin_array("events");
  for (const EvState state : {EvState::good, EvState::assumed_bad, EvState::denied, EvState::unknown}) {
    if ((p.event_mask.value_or(0) & static_cast<std::uint32_t>(state)) != 0) json.value(name_of(state));
  }
  json.end_array().begin_array("fields");
  for (const EvField& f : p.fields) {
    json.begin_object().field("width", f.width).field("init", f.init).field("min", f.min);
    json.field("max", f.max).field("mask", f.mask).end_object();
  }
  json.end_array().begin_array("evs");
  for (const EvSlotState& slot : p.slots) {
    json.begin_object().field("ev", ev_text(slot.value.bits)).field("port", slot.value.port);
    json.field("state", name_of(slot.state())).end_object();
  }
  json.end_array();
}

void show_cc(const CcProfile& p, JsonWriter& json) {
  json.field("state", name_of(p.state)).field("qps", p.users);
  const char* algorithm = p.algorithm ? engine::cc_name(*p.algorithm) : nullptr;
  json.field("algorithm", algorithm != nullptr ? algorithm : "off");
  if (!p.config) return;
  const engine::NsccConfig& c = *p.config;
  json.field("base_rtt", c.base_rtt).field("target_delay", c.target_delay).field("max_cwnd", c.max_cwnd);
  json.field("adjust_bytes_threshold", c.adjust_bytes_threshold);
  json.field("adjust_period_threshold", c.adjust_period_threshold).field("disable_qa", c.disable_qa);
  json.field("qa_gate", c.qa_gate).field("qa_threshold", c.qa_threshold);
  json.field("eta", static_cast<double>(c.eta)).field("fi", static_cast<double>(c.fi));
  json.field("fi_scale", static_cast<double>(c.fi_scale)).field("gamma", static_cast<double>(c.gamma));
  json.field("max_md_jump", static_cast<double>(c.max_md_jump));
}

/// One object, whether or not --json was said: a profile is no table.
int show(const CtlOptions& options, const ProfileOptions& o) {
  const auto kind = profile_kind(o.kind);
  if (!kind || o.id == 0) return ctl_refuse("which? say `mrc ctl profiles show format|ev|cc ID`");
  auto client = ask_device(options, o.device);
  if (!client) return ctl_fail(client.error());
  JsonWriter json;
  json.begin_object().field("kind", o.kind).field("id", o.id);
  auto state = ProfileState::init;
  if (*kind == ProfileKind::format) {
    const auto is = client->ask<FormatIs>(GetFormat{o.id});
    if (!is) return ctl_fail(is.error());
    show_format(is->profile, json);
    state = is->profile.state;
  } else if (*kind == ProfileKind::ev) {
    const auto is = client->ask<EvIs>(GetEv{o.id});
    if (!is) return ctl_fail(is.error());
    show_ev(is->profile, json);
    state = is->profile.state;
  } else {
    const auto is = client->ask<CcIs>(GetCc{o.id});
    if (!is) return ctl_fail(is.error());
    show_cc(is->profile, json);
    state = is->profile.state;
  }
  if (state == ProfileState::init)
    return ctl_fail({ENOENT, "there is no " + o.kind + " profile " + std::to_string(o.id) +
                                 ": `mrc ctl profiles` lists them"});
  std::puts(json.end_object().text().c_str());
  return 0;
}

int create(const CtlOptions& options, const ProfileOptions& o) {
  const auto file = read_profile_file(o.file);
  if (!file) return ctl_fail(file.error());
  auto context = CtlContext::open(options, o.device, true);
  if (!context) return ctl_fail(context.error());
  if (auto made = create_profiles(*context, *file); !made) return ctl_fail(made.error());
  return 0;
}

int remove(const CtlOptions& options, const ProfileOptions& o) {
  const auto kind = profile_kind(o.kind);
  if (!kind || o.id == 0) return ctl_refuse("which? say `mrc ctl profiles delete format|ev|cc ID`");
  auto context = CtlContext::open(options, o.device, true);
  if (!context) return ctl_fail(context.error());
  if (auto gone = delete_profile(*context, *kind, o.id); !gone) return ctl_fail(gone.error());
  return 0;
}

int run(const CtlOptions& options, const ProfileOptions& o) {
  if (o.verb == "list") return list(options, o);
  if (o.verb == "show") return show(options, o);
  if (o.verb == "delete") return remove(options, o);
  ProfileOptions with_file = o;
  with_file.file = o.kind;
  if (with_file.file.empty()) return ctl_refuse("from which file? say `mrc ctl profiles create FILE`");
  return create(options, with_file);
}

struct EvOptions {
  std::string verb = "list", device;
  std::uint64_t profile = 0;
  std::vector<std::string> evs;
};

/// "0xc350" or "0xc350@2": the EV, and the port that it leaves by when the same EV is there for several.
Result<std::vector<mrc_ctl_ev_op_entry>> find_evs(const EvProfile& profile, const EvOptions& o) {
  std::vector<mrc_ctl_ev_op_entry> entries;
  for (const std::string& word : o.evs) {
    const auto at = word.find('@');
    const auto bits = ev_bits(word.substr(0, at));
    if (!bits) return Error{EINVAL, "'" + word + "' is no EV: write it as `mrc ctl evs list` does"};
    const int port = at == std::string::npos ? 0 : std::atoi(word.c_str() + at + 1);
    const std::size_t before = entries.size();
    for (const EvSlotState& slot : profile.slots) {
      if (slot.value.bits != *bits || (port != 0 && slot.value.port != port)) continue;
      mrc_ctl_ev_op_entry& entry = entries.emplace_back();
      entry = {};
      std::copy(bits->begin(), bits->end(), entry.ev.val);
      entry.ev.port = slot.value.port;
      entry.state = o.verb == "deny" ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD;
    }
    if (entries.size() == before)
      return Error{ENOENT, "profile " + std::to_string(o.profile) + " has no EV " + word};
  }
  return entries;
}

int list_evs(const CtlOptions& options, const EvOptions& o, const EvProfile& profile) {
  JsonWriter json;
  json.begin_array();
  if (!options.json)
    std::printf("%5s  %-24s %4s  %-12s %s\n", "SLOT", "EV", "PORT", "STATE", "QPS THAT HOLD IT FOR BAD");
  for (std::size_t i = 0; i < profile.slots.size(); ++i) {
    const EvSlotState& slot = profile.slots[i];
    json.begin_object().field("profile", o.profile).field("slot", i).field("ev", ev_text(slot.value.bits));
    json.field("port", slot.value.port)
        .field("state", name_of(slot.state()))
        .field("bad_reports", slot.bad_reports);
    json.end_object();
    if (options.json) continue;
    std::printf("%5zu  %-24s %4u  %-12s %u\n", i, ev_text(slot.value.bits).c_str(), slot.value.port,
                name_of(slot.state()), slot.bad_reports);
  }
  if (options.json) std::puts(json.end_array().text().c_str());
  return 0;
}

int run_evs(const CtlOptions& options, const EvOptions& o) {
  if (o.verb != "list" && o.evs.empty())
    return ctl_refuse("which EVs? say `mrc ctl evs " + o.verb + " PROFILE EV...`");
  auto client = ask_device(options, o.device);
  if (!client) return ctl_fail(client.error());
  const auto is = client->ask<EvIs>(GetEv{o.profile});
  if (!is) return ctl_fail(is.error());
  if (is->profile.state == ProfileState::init)
    return ctl_fail(
        {ENOENT, "there is no EV profile " + std::to_string(o.profile) + ": `mrc ctl profiles` lists them"});
  if (o.verb == "list") return list_evs(options, o, is->profile);
  auto entries = find_evs(is->profile, o);
  if (!entries) return ctl_fail(entries.error());
  auto context = CtlContext::open(options, o.device, true);
  if (!context) return ctl_fail(context.error());
  mrc_ctl_ev_profile_attr attr{};
  attr.ev_op = {MRC_CTL_EV_OP_MODIFY_EV_STATE, entries->data(), static_cast<int>(entries->size())};
  if (mrc_ctl_modify_ev_profile(context->get(), o.profile, &attr, MRC_CTL_EV_PROFILE_EV_OP) == 0) return 0;
  return ctl_fail(ctl_error(o.verb + " EVs of profile " + std::to_string(o.profile), errno));
}

}  // namespace

Run ctl_profiles(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto o = std::make_shared<ProfileOptions>();
  app.add_option("verb", o->verb, "list, show, create or delete")
      ->check(CLI::IsMember({"list", "show", "create", "delete"}));
  app.add_option("what", o->kind, "format, ev or cc; with create: a file in TOML or JSON")
      ->type_name("KIND|FILE");
  app.add_option("id", o->id, "the profile's number, from 1")->type_name("ID");
  app.add_option("--device", o->device, "of this device; not needed when there is one")->type_name("NAME");
  app.footer("Example: mrc ctl profiles create profiles.toml\n         mrc ctl profiles show ev 1");
  return [options, o] { return run(*options, *o); };
}

Run ctl_evs(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto o = std::make_shared<EvOptions>();
  app.add_option("verb", o->verb, "list, deny or allow")
      ->check(CLI::IsMember({"list", "deny", "allow"}))
      ->required();
  app.add_option("profile", o->profile, "the EV profile's number")->required()->type_name("PROFILE");
  app.add_option("evs", o->evs, "as list shows them; EV@PORT means one port's")->type_name("EV...");
  app.add_option("--device", o->device, "of this device; not needed when there is one")->type_name("NAME");
  app.footer("Example: mrc ctl evs list 1\n         mrc ctl evs deny 1 0xc000 0xc001@2");
  return [options, o] { return run_evs(*options, *o); };
}

}  // namespace mrc::tools
