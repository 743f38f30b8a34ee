// Packets of one port on their way out: headers and tails in an arena, payload where it lies, consecutive
// packets of one path gathered into trains.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/source_routes.h"
#include "nic/nic.h"
#include "port/port.h"
#include "wire/datagram.h"
#include "wire/settings.h"

namespace mrc::datapath {

struct OutboxSettings {
  std::uint32_t packets = 64;      // in one burst,
  std::uint32_t bytes = 32 << 10;  // and about so many bytes: what the iCRC read should still be in the first
                                   // cache when the kernel copies it
  std::uint32_t copy_below =
      256;                 // payloads up to this are copied behind their header: one piece instead of three
  std::uint32_t unit = 1;  // packets that are likely to share a path: a train that two bursts share is two
  const SourceRoutes* routes = nullptr;  // for ports that write outer headers; must outlive the outbox
};

class Outbox {
 public:
  Outbox(port::Port& port, const wire::Settings& wire, const OutboxSettings& settings);

  /// Room for one more packet, and nothing left over from an earlier burst.
  bool has_room() const {
    return !backlog_ && packets_ < settings_.packets && (bytes_ < settings_.bytes || train_goes_on());
  }
  bool empty() const { return trains_.empty(); }
  /// Writes the packet's headers and iCRC. REQUIRES has_room().
  void add(const nic::Departure& packet);
  /// Hands the burst to the port. What the port does not take stays, and closes the box until it is gone.
  void flush();
  /// Forgets everything unsent: it counts as lost on the way. Memory that it points to may vanish afterwards.
  void discard();
  bool blocked() const { return backlog_; }

 private:
  struct Train {
    port::Address to;
    std::uint32_t first_piece = 0;
    std::uint32_t bytes = 0;
    bool closed = false;  // its last packet was shorter
    SourceRoute route{};
  };

  struct Shape {
    std::size_t head, payload, pad;
  };

  bool joins(const wire::Datagram& around, const nic::Departure& packet, std::uint32_t size) const;
  void open_train(const wire::Datagram& around, const nic::Departure& packet, std::uint32_t size);
  static void encapsulate(const nic::Carrier& carrier, Train& note);
  void write(const nic::Departure& packet, const wire::Datagram& around, Shape shape);
  void write_short(const nic::Departure& packet, const wire::Datagram& around, Shape shape,
                   std::uint8_t* head);
  void append(const void* data, std::size_t size);
  bool train_goes_on() const;

  port::Port& port_;
  wire::Settings wire_;
  OutboxSettings settings_;
  port::Capabilities capabilities_;
  wire::IpAddress local_;
  std::uint32_t interface_;
  std::vector<std::uint8_t> arena_;
  std::vector<iovec> pieces_;
  std::vector<port::TxTrain> trains_;
  std::vector<Train> notes_;  // one per train
  std::size_t arena_used_ = 0;
  std::size_t sent_ = 0;  // trains that the port has taken
  std::uint32_t packets_ = 0;
  std::uint32_t bytes_ = 0;
  bool backlog_ = false;
};

}  // namespace mrc::datapath
