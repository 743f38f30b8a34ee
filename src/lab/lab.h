// A lab as its users see it: start one or find one, break and heal it, and run programs on its hosts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lab/channel.h"
#include "lab/wiring.h"

namespace mrc::lab {

/// Where the mrcd of a host listens, and where programs on that host look for one: an abstract name, of which
/// each network namespace has its own.
inline constexpr const char* kHostDaemon = "@openmrc-mrcd";

struct LabSettings {
  std::string name;   // empty: nobody else can find it
  bool owned = true;  // ends with the object that started it, however that ends
  WiringSettings wiring;
};

/// The machine refuses namespaces to this user: there can be no lab here, whatever its topology. Any other
/// error is a fault.
bool is_forbidden(const Error& error);

class Lab {
 public:
  /// Forks the keeper and waits until the fabric stands. EPERM: the machine forbids namespaces, and says what
  /// would allow them. EADDRINUSE: the name is taken.
  static Result<Lab> start(const topo::Topology& topo, const LabSettings& settings);
  /// A running lab of this user.
  static Result<Lab> find(const std::string& name);

  // Targets are named as topo names things; see find_target in lab/faults.h.
  Status fail(const std::string& target, bool silent = false);
  Status heal(const std::string& target = {});  // empty: everything
  Status drop(const std::string& target, double share);
  Status rate(const std::string& target, std::uint64_t bits_per_second);
  Status flap(const std::string& target, std::chrono::microseconds down, std::chrono::microseconds up,
              std::uint32_t times, bool silent = false);
  Result<std::string> status();    // JSON
  Result<std::string> topology();  // TOML
  /// Returns when nothing is left of it.
  Status end();

  /// Moves the calling process, which must have one thread, onto a node. What it opens from now on is there.
  /// MRC_DEVICES is set so that libmrc finds one port per plane, MRC_SOCKET so that it finds the host's mrcd.
  Status enter(const std::string& node);
  /// Runs a program on a node, and waits for it: its exit status. It dies with the lab. The calling process
  /// moves into the lab as well.
  Result<int> execute(const std::string& node, const std::vector<std::string>& command);

 private:
  explicit Lab(Fd channel) : channel_(std::move(channel)) {}
  Result<Answer> ask(const Words& words);
  Status tell(const Words& words);
  Result<Answer> go(const std::string& node);

  Fd channel_;
};

}  // namespace mrc::lab
