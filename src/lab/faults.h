// What is broken in a running fabric, and how it gets broken and healed.
//
// A fault is kept per cable end. Admin: the interface is down, its peer loses its carrier, everybody may
// notice. Loss: a share of what arrives there is dropped and nobody is told; all of it is a silent black
// hole. Rate: what leaves there is slowed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/wiring.h"

namespace mrc::lab {

enum class How : std::uint8_t { admin, silent };

/// What a name means: cable ends that go down, and ends whose arrivals are hit.
struct Target {
  std::string name;
  std::vector<topo::Attachment> ends;       // whose interfaces a failure takes down
  std::vector<topo::Attachment> receivers;  // where silent faults bite
  std::vector<topo::Attachment> senders;    // whose departures a rate limits
  bool one_way = false;
};

/// A cable (p0.t0.1-p0.t1.0), a cable one way (p0.t0.1>p0.t1.0), a switch (p0.t1.0), a host (h3), a plane
/// (p0), a NIC port (h3.p0). EINVAL says what names there are.
Result<Target> find_target(const topo::Topology& topo, const std::string& name);

class Faults {
 public:
  explicit Faults(const Wiring& wiring);

  Status set_up();  // hooks and the topology's rates, once
  Status fail(const Target& target, How how);
  /// Loss and black holes go, interfaces come up, rates return to the topology's.
  Status heal(const Target& target);
  Status heal_all();
  Status drop(const Target& target, double probability);
  Status rate(const Target& target, std::uint64_t bits_per_second);

  struct End {
    bool down = false;
    double loss = 0;         // of what arrives; 1 is a black hole
    std::uint64_t rate = 0;  // of what leaves; 0: not limited
  };
  /// Ends that differ from what the topology says.
  std::vector<std::pair<topo::Attachment, End>> broken() const;

 private:
  Status set_down(const std::vector<topo::Attachment>& ends, bool down);
  void settle(const topo::Attachment& end) const;
  Status set_loss(const topo::Attachment& end, double probability);
  Status set_rate(const topo::Attachment& end, std::uint64_t bits_per_second);
  Status tell(const topo::Attachment& end, const std::string& line);
  std::set<std::uint32_t> down_ports(topo::Node node) const;
  std::uint64_t nominal_rate(const topo::Attachment& end) const;

  const Wiring& wiring_;
  const topo::Topology& topo_;
  std::map<topo::Attachment, End> ends_;
};

}  // namespace mrc::lab
