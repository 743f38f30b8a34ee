// A fast lane for paths in steady use: sockets that are connected to one peer and carry one flow label and
// one class. The kernel then looks up no route and parses no control message, which saves a sixth of a small
// packet's way. A bounded cache: whatever isn't in it goes by the ordinary sockets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "port/fd.h"
#include "port/port.h"

namespace mrc::port {

class ConnectedSockets {
 public:
  struct Options {
    Address local;
    std::string interface;
    std::uint16_t udp_port = 4791;
    std::uint32_t limit = 128;  // a power of two, or 0: none
  };
  explicit ConnectedSockets(Options options) : options_(std::move(options)), lanes_(options_.limit) {}

  /// The socket for trains like this one, or -1. Opens it when such trains have come a few times in a row.
  int find(const TxTrain& train) {
    if (lanes_.empty()) return -1;
    const std::size_t slot = slot_of(train);
    // Two lanes to choose from: with as many paths as lanes, one alone would leave a third of them outside.
    Lane& first = lanes_[slot & (lanes_.size() - 1)];
    Lane& second = lanes_[slot >> 12 & (lanes_.size() - 1)];
    for (Lane* lane : {&first, &second}) {
      if (!lane->fd || !lane->open.is(train)) continue;
      lane->wishes = 0;
      return lane->fd.get();
    }
    return wish(first.fd && !second.fd ? second : first, train);
  }

 private:
  static constexpr unsigned kWorthOpening = 8;

  struct Key {
    Address to;
    std::uint32_t flow_label = 0;
    std::uint16_t source_port = 0;
    std::uint8_t tos = 0;
    bool is(const TxTrain& t) const {
      return source_port == t.source_port && flow_label == t.flow_label && tos == t.tos && to == *t.to;
    }
  };
  struct Lane {
    Fd fd;
    Key open;
    Key wanted;
    unsigned wishes = 0;
  };

  static std::size_t slot_of(const TxTrain& train);
  int wish(Lane& lane, const TxTrain& train);
  Result<Fd> connect(const TxTrain& train) const;

  Options options_;
  std::vector<Lane> lanes_;
};

}  // namespace mrc::port
