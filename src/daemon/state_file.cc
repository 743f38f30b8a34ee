#include "daemon/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "node/message_fields.h"
#include "port/fd.h"

namespace mrc::daemon {

using namespace node;

namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'O', 'M', 'R', 'C', 'n', 'o', 'd', 'e'};
constexpr std::uint32_t kFileVersion = 1;
constexpr std::size_t kMostStored = 1 << 16;

template <class Profile>
struct Stored {
  std::uint64_t id = 0;
  Profile profile;
};
struct StoredDevice {
  std::string name;
  std::uint64_t guid = 0;
  std::vector<PortPlace> ports;
  std::uint32_t disabled = 0;
  std::vector<Stored<FormatProfile>> formats;
  std::vector<Stored<EvProfile>> evs;
  std::vector<Stored<CcProfile>> ccs;
};
struct StoredState {
  std::array<std::uint8_t, 8> magic = kMagic;
  std::uint32_t version = kFileVersion;
  std::vector<StoredDevice> devices;
};

template <class A, class Profile>
void fields(A& a, Stored<Profile>& v) {
  a(v.id)(v.profile);
}
template <class A>
void fields(A& a, StoredDevice& v) {
  a(v.name)(v.guid).list(v.ports, kMaxDevicePorts)(v.disabled);
  a.list(v.formats, kMostStored).list(v.evs, kMostStored).list(v.ccs, kMostStored);
}
template <class A>
void fields(A& a, StoredState& v) {
  a(v.magic)(v.version).list(v.devices, kMostStored);
}

template <class Profile>
std::vector<Stored<Profile>> list_of(const std::map<std::uint64_t, Profile>& profiles) {
  std::vector<Stored<Profile>> all;
  for (const auto& [id, profile] : profiles) all.push_back({id, profile});
  return all;
}

/// What the mapper denied it finds again, or not: only an operator's word is kept.
std::vector<Stored<EvProfile>> evs_of(const DeviceState& device) {
  auto all = list_of(device.profiles.evs());
  for (auto& [id, profile] : all) {
    const auto found = device.found_bad.find(id);
    if (found == device.found_bad.end()) continue;
    for (EvSlotState& slot : profile.slots) {
      if (std::find(found->second.begin(), found->second.end(), slot.value) != found->second.end())
        slot.denied = false;
    }
  }
  return all;
}

StoredDevice store(const DeviceState& device) {
  return {device.name,
          device.guid,
          device.ports,
          device.disabled.bits(),
          list_of(device.profiles.formats()),
          evs_of(device),
          list_of(device.profiles.ccs())};
}

void restore(LocalProfiles& to, std::uint64_t id, const FormatProfile& p) {
  FormatChange first{.state = ProfileState::offline, .mode = p.mode, .vendor = p.vendor};
  if (!p.widths.empty()) first.widths = p.widths;
  to.modify_format(id, first);
  if (p.state == ProfileState::online) to.modify_format(id, {.state = ProfileState::online});
}

void restore(LocalProfiles& to, std::uint64_t id, const CcProfile& p) {
  to.modify_cc(
      id, {.state = ProfileState::offline, .algorithm = p.algorithm, .config = p.config, .vendor = p.vendor});
  if (p.state == ProfileState::online) to.modify_cc(id, {.state = ProfileState::online});
}

void restore(LocalProfiles& to, std::uint64_t id, const EvProfile& p) {
  EvChange first{.state = ProfileState::offline,
                 .mode = p.mode,
                 .count = p.count,
                 .min_active = p.min_active,
                 .event_mask = p.event_mask,
                 .vendor = p.vendor};
  if (p.format != 0) first.format = p.format;
  if (!p.fields.empty()) first.fields = p.fields;
  to.modify_ev(id, first);
  EvChange written, denied;
  for (const EvSlotState& slot : p.slots) {
    if (!slot.value.unpopulated()) written.replaces.push_back({{}, slot.value});
    if (slot.denied) denied.states.push_back({slot.value, EvState::denied});
  }
  if (p.mode == EvMode::explicit_ && !written.replaces.empty()) to.modify_ev(id, written);
  if (p.state == ProfileState::online) to.modify_ev(id, {.state = ProfileState::online});
  if (!denied.states.empty()) to.modify_ev(id, denied);
}

void restore(const StoredDevice& stored, Devices& devices) {
  if (stored.ports.empty()) return;
  const std::string name = name_beside(devices, stored.name, stored.ports);
  auto& device = devices[key_of(stored.ports)];
  device = std::make_unique<DeviceState>(name, stored.guid, stored.ports);
  device->disabled = PortMask(stored.disabled) & PortMask::first(static_cast<int>(stored.ports.size()));
  for (const auto& [id, profile] : stored.formats) restore(device->profiles, id, profile);
  for (const auto& [id, profile] : stored.evs) restore(device->profiles, id, profile);
  for (const auto& [id, profile] : stored.ccs) restore(device->profiles, id, profile);
  EvEvent unheard[64];
  while (device->ev_events.poll(unheard) > 0) continue;
}

Result<std::vector<std::uint8_t>> read_file(const std::string& path) {
  const auto failed = [&] { return port::errno_error("read " + path + ", which keeps the profiles"); };
  const port::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failed();
  std::vector<std::uint8_t> out;
  for (std::uint8_t some[1 << 14];;) {
    const ssize_t n = ::read(fd.get(), some, sizeof some);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    if (n == 0) return out;
    out.insert(out.end(), some, some + n);
  }
}

Status write_all(int fd, std::span<const std::uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return port::errno_error("write " + path);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return ::fsync(fd) == 0 ? Status(Done{}) : Status(port::errno_error("store " + path));
}

Status replace_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string next = path + ".new";
  const port::Fd fd(::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return port::errno_error("write " + next);
  if (auto written = write_all(fd.get(), bytes, next); !written) return written.error();
  if (::rename(next.c_str(), path.c_str()) < 0) return port::errno_error("rename " + next);
  return Done{};
}

}  // namespace

Status save_state(const std::string& path, const Devices& devices) {
  if (path.empty()) return Done{};
  StoredState state;
  for (const auto& [key, device] : devices) {
    const StoredDevice stored = store(*device);
    const bool nothing =
        stored.disabled == 0 && stored.formats.empty() && stored.evs.empty() && stored.ccs.empty();
    if (!nothing) state.devices.push_back(stored);
  }
  auto saved = replace_file(path, to_bytes(state));
  if (!saved)
    std::fprintf(stderr, "mrcd: %s: changes will not survive a restart\n", saved.error().what.c_str());
  return saved;
}

Status load_state(const std::string& path, Devices& devices) {
  if (path.empty()) return Done{};
  const auto bytes = read_file(path);
  if (!bytes && bytes.error().code == ENOENT) return Done{};
  if (!bytes) return bytes.error();  // not as if there were none: the next change would replace it
  const auto state = from_bytes<StoredState>(*bytes);
  if (state && state->magic == kMagic && state->version == kFileVersion) {
    for (const StoredDevice& stored : state->devices) restore(stored, devices);
    return Done{};
  }
  const std::string aside = path + ".bad";
  ::rename(path.c_str(), aside.c_str());
  std::fprintf(stderr,
               "mrcd: %s is not a state file of this version: put aside as %s, beginning without profiles\n",
               path.c_str(), aside.c_str());
  return Done{};
}

}  // namespace mrc::daemon
