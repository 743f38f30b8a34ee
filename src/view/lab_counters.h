// What the interfaces of a lab's nodes have sent, read from outside the lab.
//
// A file of counters belongs to the namespace in which it was opened. So a child goes into each node's
// namespace once, opens the file there and hands it out; from then on reading needs no namespace at all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "port/fd.h"
#include "topo/topo.h"

namespace mrc::view {

/// Of one direction, at its sender; `dropped` also at its receiver.
struct HopReading {
  std::uint64_t bytes = 0, packets = 0, dropped = 0;
};

class LabCounters {
 public:
  /// REQUIRES: one thread.
  static Result<LabCounters> open(const std::string& lab, const topo::Topology& topo);

  /// By hop. What can not be read stays as it was.
  Status read(std::vector<HopReading>& out);

 private:
  explicit LabCounters(const topo::Topology& topo) : topo_(topo) {}
  void take_line(topo::Node node, std::string_view line, std::vector<HopReading>& out) const;

  const topo::Topology& topo_;
  std::vector<topo::Node> nodes_;
  std::vector<port::Fd> files_;  // as nodes_
};

}  // namespace mrc::view
