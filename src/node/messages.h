// What a process and the node's daemon, mrcd, say to one another over its socket.
//
// Requests carry a number and get one answer with the same number: the type named beside them, or an Answer
// that says why not. What carries number 0 wants no answer. The first message is Hello.
// docs/operating/mrcd.md tells the story; the order of the alternatives of Body is the protocol: add at the
// end, and count up kProtocol when anything else changes.
#pragma once

#include <variant>

#include "node/ev_event_queue.h"
#include "node/facts.h"
#include "node/profile_store.h"
#include "node/profile_types.h"

namespace mrc::node {

inline constexpr std::uint32_t kProtocol = 3;
inline constexpr std::size_t kMaxDevicePorts = 31;
inline constexpr std::size_t kMaxEntries = 4096;  // of one operation or profile
inline constexpr std::size_t kMaxQpsPerPart = 256;
inline constexpr std::size_t kMaxEvsPerQp = 1024;

struct PortPlace {
  std::string interface;
  AddressBytes address{};
};

/// Who speaks. With ports: a process that opened this device. With a name alone: somebody who asks about a
/// device that is there, or about the node. -> Welcome
struct Hello {
  std::uint32_t protocol = kProtocol;
  std::uint64_t network = 0;  // the network namespace: a node is one of them
  std::string program;
  std::string device;
  std::uint64_t guid = 0;
  std::vector<PortPlace> ports;
  Qpn first_qpn, last_qpn;
  std::uint64_t life = 0;  // of a device in a process: the same on each of its connections, and nobody else's
};
struct Welcome {
  std::uint32_t protocol = kProtocol;
  std::uint32_t pid = 0;
  std::string version;
  ProfileLimits limits;
  std::uint32_t receive_challenge = 0, send_challenge = 0;  // for Prove
  std::uint32_t disabled_ports = 0;                         // bits of a PortMask
};
/// The end of a request that yields nothing, or that failed.
struct Answer {
  std::int32_t error = 0;   // errno
  std::uint32_t entry = 0;  // of an array: the one that failed
  std::string what;         // a sentence
};
/// With a socket beside it whose buffers are as large as the challenges say, which only CAP_NET_ADMIN can
/// make so. -> Answer
struct Prove {
  std::uint8_t unused = 0;
};

// ---- profiles: for controllers (Prove first, to modify) ----
struct ModifyFormat {
  std::uint64_t id = 0;
  FormatChange change;
};
struct ModifyEv {
  std::uint64_t id = 0;
  EvChange change;
};
struct ModifyCc {
  std::uint64_t id = 0;
  CcChange change;
};
struct GetFormat {
  std::uint64_t id = 0;
};
struct GetEv {
  std::uint64_t id = 0;
};
struct GetCc {
  std::uint64_t id = 0;
};
struct GetProfiles {
  std::uint8_t unused = 0;
};
struct FormatIs {
  FormatProfile profile;
};
struct EvIs {
  EvProfile profile;
};
struct CcIs {
  CcProfile profile;
};
enum class ProfileKind : std::uint32_t { format, ev, cc };
struct ProfileLine {
  ProfileKind kind = ProfileKind::format;
  std::uint64_t id = 0;
  ProfileState state = ProfileState::init;
  std::uint32_t users = 0;  // QPs
  std::uint32_t count = 0;  // EVs
};
struct ProfilesAre {
  std::uint32_t free_evs = 0;
  std::vector<ProfileLine> profiles;
};

// ---- profiles: for QPs ----
struct AcquireEv {
  std::uint64_t id = 0;
};
struct EvAcquired {
  std::uint64_t id = 0;
  EvSet set;
};
struct AcquireCc {
  std::uint64_t id = 0;
};
struct CcAcquired {
  std::uint64_t id = 0;
  engine::CcProfile profile;
};
struct ReleaseEv {
  std::uint64_t id = 0;
};
struct ReleaseCc {
  std::uint64_t id = 0;
};
struct ReportEv {
  std::uint64_t id = 0;
  std::uint32_t slot = 0;
  bool bad = false;
};
/// After mrcd was away: what this process's QPs hold. -> Held
struct EvHolding {
  std::uint64_t id = 0;
  std::uint32_t users = 0;
  std::vector<std::uint32_t> bad;  // slots, one for each QP that holds it for bad
};
struct CcHolding {
  std::uint64_t id = 0;
  std::uint32_t users = 0;
};
struct Holdings {
  std::vector<EvHolding> evs;
  std::vector<CcHolding> ccs;
};
struct HeldEv {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> denied;  // slots
};
struct Held {
  std::vector<HeldEv> evs;
};
/// The controller changed an EV that this process may be using.
struct EvDenied {
  std::uint64_t id = 0;
  std::uint32_t slot = 0;
  bool denied = false;
};

// ---- ports ----
struct SetPort {
  PortId port;
  bool enabled = true;
};
struct PortsDisabled {
  std::uint32_t mask = 0;
};

// ---- what happens ----
enum class EventKind : std::uint32_t {
  ev_state = 1,    // an EV of a profile, by its event mask
  port_link = 2,   // an interface went down or came up
  port_admin = 4,  // the controller disabled or enabled a port
  process_joined = 8,
  process_left = 16,
  profile_changed = 32,
  qp_failed = 64,
};
inline constexpr std::uint32_t kAllEvents = 127;
struct NodeEvent {
  std::uint64_t time_ns = 0;  // CLOCK_REALTIME
  EventKind kind = EventKind::ev_state;
  std::string device;
  std::uint32_t pid = 0;
  PortId port;
  bool up = false;
  ProfileKind profile_kind = ProfileKind::ev;
  std::uint64_t profile = 0;
  EvValue value;
  EvState state = EvState::good;
  Qpn qpn;
  std::uint32_t dropped = 0;  // events lost between the one before and this one
};
/// Bits of EventKind; of the device named in Hello, of all when none was. -> Answer, then NodeEvents
struct Subscribe {
  std::uint32_t kinds = 0;
};
/// A process tells of itself; mrcd fills in who and when.
struct Happened {
  EventKind kind = EventKind::qp_failed;  // port_link or qp_failed
  PortId port;
  bool up = false;
  Qpn qpn;
};

// ---- snapshot ----
/// -> SnapshotHead, ProcessFacts and QpPart for each process, and an Answer at the end
struct GetSnapshot {
  bool with_evs = false;
};
struct SnapshotHead {
  Snapshot snapshot;  // without processes
};
/// mrcd asks a process. -> Report, QpParts, Answer
struct Collect {
  bool with_evs = false;
};
struct Report {
  ProcessFacts process;  // without QPs
};
struct QpPart {
  std::vector<QpFacts> qps;
};

// ---- devices ----
/// Those of mrcd's settings: what a process has that is told nothing else. -> DevicesAre
struct GetDevices {
  std::uint8_t unused = 0;
};
struct DevicesAre {
  std::vector<DeviceFacts> devices;
};

using Body = std::variant<Hello, Welcome, Answer, Prove, ModifyFormat, ModifyEv, ModifyCc, GetFormat, GetEv,
                          GetCc, GetProfiles, FormatIs, EvIs, CcIs, ProfilesAre, AcquireEv, EvAcquired,
                          AcquireCc, CcAcquired, ReleaseEv, ReleaseCc, ReportEv, Holdings, Held, EvDenied,
                          SetPort, PortsDisabled, NodeEvent, Subscribe, Happened, GetSnapshot, SnapshotHead,
                          Collect, Report, QpPart, GetDevices, DevicesAre>;

struct Message {
  std::uint32_t id = 0;
  Body body;
};

}  // namespace mrc::node
