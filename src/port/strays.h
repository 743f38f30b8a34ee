// Packets that reached the wrong process. The kernel steers what it delivers by its first packet only, so a
// coalesced message that mixes two processes' QPs lands at one of them, who hands the others' packets over by
// a local socket. Rare and slow.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "port/fd.h"
#include "port/port.h"

namespace mrc::port {

class Strays {
 public:
  /// `group` names the sockets that this port shares, the same in all processes; `index` is our seat of
  /// `seats`.
  static Result<Strays> open(const std::string& group, unsigned index, unsigned seats);

  int fd() const { return socket_.get(); }
  /// Hands a packet to the process at another seat; false when nobody sits there or he is too busy: the
  /// packet is lost.
  bool give(const RxPacket& packet, unsigned index);
  /// Packets that others handed to us. They live until the next call.
  std::size_t take(std::span<RxPacket> out);

 private:
  struct Letter;
  static constexpr std::size_t kLetters = 8;

  Strays(Fd socket, Fd sending, std::vector<std::string> doors);

  Fd socket_;
  Fd sending_;
  std::vector<std::string> doors_;     // one per seat
  std::shared_ptr<Letter[]> letters_;  // shared, so that Letter may be incomplete here
};

}  // namespace mrc::port
