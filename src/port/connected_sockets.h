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
    std::uint32_t limit = 256;  // a power of two, or 0: none; twice as many as paths, or some find no lane
  };
  explicit ConnectedSockets(Options options) : options_(std::move(options)), lanes_(options_.limit) {}

  /// The socket for trains like this one, or -1. Opens it when such trains have come a few times in a row.
  int find(const TxTrain& train) {
    if (lanes_.empty()) return -1;
    ++calls_;
    const std::size_t hash = hash_of(train);
    for (unsigned i = 0; i < kChoices; ++i) {
      Lane& lane = choice(hash, i);
      if (!lane.fd || !lane.open.is(train)) continue;
      lane.used = calls_;
      return lane.fd.get();
    }
    return wish(hash, train);
  }

  std::uint64_t opened() const { return opened_; }

 private:
  // Opening costs as much as ten packets, and closing as much again, of which a part comes later in a thread
  // of the kernel's. So only what comes again and again gets a lane, and it keeps it until it has not come
  // for so many calls (per lane). Two ends in conversation have two classes for each path, as many as lanes:
  // whoever rested for a few rounds would lose its lane, and want it back.
  static constexpr unsigned kWorthOpening = 8;
  static constexpr std::uint32_t kIdle = 1024;
  // A wish is forgotten sooner: a spray unit comes several times in a row and then not for long.
  static constexpr std::uint32_t kWish = 16;

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
    std::uint32_t used = 0;    // the call that used it last,
    std::uint32_t wished = 0;  // and the last one that wished for `wanted`
  };

  // With half as many paths as lanes, one in eighty finds none of its four free; of two it would be one in
  // twelve, and those without a lane cost a tenth more.
  static constexpr unsigned kChoices = 4;

  static std::size_t hash_of(const TxTrain& train);
  Lane& choice(std::size_t hash, unsigned i) { return lanes_[hash >> 8 * i & (lanes_.size() - 1)]; }
  bool is_past(std::uint32_t call, std::uint32_t calls) const {
    return calls_ - call > calls * lanes_.size();
  }
  /// Nobody uses it, and nobody else is about to.
  bool is_free(const Lane& lane, const TxTrain& train) const {
    if (lane.fd && !is_past(lane.used, kIdle)) return false;
    return lane.wishes == 0 || lane.wanted.is(train) || is_past(lane.wished, kWish);
  }
  int wish(std::size_t hash, const TxTrain& train);
  Result<Fd> connect(const TxTrain& train) const;

  Options options_;
  std::vector<Lane> lanes_;
  std::uint32_t calls_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace mrc::port
