// Room in the process's table of descriptors, made before it is needed.
//
// The table grows by doubling, when a descriptor finds no place in it. In a process with several threads the
// kernel then waits until every core has let go of the old one, tens of milliseconds where cores are busy, and
// all threads that open something wait as well. A port opens sockets as its paths come into use, in the middle
// of everything; so it makes room for all of them while it is opened itself.
#pragma once

namespace mrc::port {

class DescriptorRoom {
 public:
  /// Room for so many descriptors beside those of other ports, as far as the process may have them.
  explicit DescriptorRoom(unsigned descriptors);
  ~DescriptorRoom();
  DescriptorRoom(const DescriptorRoom&) = delete;
  DescriptorRoom& operator=(const DescriptorRoom&) = delete;

 private:
  unsigned descriptors_;
};

}  // namespace mrc::port
