// `fabric`'s switch on real interfaces: frames from ports in, through the same object that the simulator
// drives, and out.
//
// One thread. turn(now) moves what is there to be moved and returns; it never waits. Between turns the caller
// may sleep until a port has something (wait_fds) or a link is free again (next_departure). Frames that pass
// straight through are not copied but for their headers; ones that wait are.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fabric/bytes.h"
#include "fabric/switch.h"
#include "lab/byte_frame.h"
#include "lab/segments.h"
#include "port/port.h"
#include "wire/address.h"

namespace mrc::lab {

/// One port of the switch. `peer` is learnt from what arrives; until then it is what was given, and the peer
/// is asked.
struct SoftPort {
  std::string name;
  std::unique_ptr<port::Port> port;  // Layer::frame
  wire::MacAddress mac, peer;
  Ipv6 peer_link_local;
  fabric::LinkSettings link;
  bool heard = false;  // from the peer
};

struct SoftSwitchSettings {
  fabric::SwitchSettings by_usid;
  fabric::Table usid_table;
  fabric::SwitchSettings plain;  // for frames addressed to NICs, that no carrier routes
  fabric::Table plain_table;
  fabric::ByteSettings bytes;
  Ipv6 link_local;             // answers solicitations for it
  std::size_t frames = 16384;  // that can be inside at once
  /// A link that found nobody to send for it in time may make up for at most this much.
  fabric::PsDuration catch_up{200'000'000};
  std::uint64_t seed = 1;
};

struct SoftSwitchCounters {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::uint64_t out_of_frames = 0;    // all frames were in use
  std::uint64_t coalesced = 0;        // frames that held several packets, and were taken apart
  std::uint64_t not_segments = 0;     // said to hold several, and not UDP over IPv6: dropped
  std::uint64_t refused_by_port = 0;  // the interface would not take it
  std::uint64_t solicitations = 0;    // answered
};

class SoftSwitch {
 public:
  SoftSwitch(SoftSwitchSettings settings, std::vector<SoftPort> ports);
  SoftSwitch(const SoftSwitch&) = delete;

  /// Receives, decides and sends once around. Says whether anything moved.
  bool turn(fabric::PsTime now);
  /// When a frame that waits may leave; PsTime::max() when none does.
  fabric::PsTime next_departure() const;
  std::vector<int> wait_fds() const;
  /// Link events, neighbours not heard of yet, and housekeeping of the ports: each millisecond or so.
  void service(fabric::PsTime now);

  fabric::Switch& fabric() { return switch_; }
  const fabric::Switch& fabric() const { return switch_; }
  const SoftPort& port(std::uint16_t p) const { return ports_[p]; }
  std::uint16_t ports() const { return static_cast<std::uint16_t>(ports_.size()); }
  const SoftSwitchCounters& counters() const { return counters_; }
  /// Frames refused before they reached a table or a queue, by what was wrong, and those that were routed.
  std::uint64_t count(fabric::Fate f) const { return refused_[static_cast<int>(f)] + switch_.count(f); }

 private:
  static constexpr std::size_t kBurst = 32;
  static constexpr std::size_t kTrains = 64;
  static constexpr fabric::PsDuration kAskPeriod{100'000'000'000};

  bool send_all(fabric::PsTime now);
  bool receive(std::uint16_t p);
  void take(std::uint16_t p, const port::RxPacket& packet);
  void take_apart(std::uint16_t p, const port::RxPacket& packet);
  static void copy_segment(ByteFrame& f, const std::uint8_t* frame, const Segments& s, std::uint32_t i);
  ByteFrame* take_frame();
  void forward(std::uint16_t p, ByteFrame& frame, std::uint32_t size);
  void refuse(std::uint16_t p, ByteFrame& f, fabric::Fate fate);
  bool send(std::uint16_t p, fabric::PsTime now);
  void fill_trains(std::uint16_t p, fabric::PsTime now);
  void push(std::uint16_t p);
  void prepare(std::uint16_t p, ByteFrame& f);
  void keep_waiting_bodies();
  void answer(std::uint16_t p, const ByteFrame& f);
  void ask(const SoftPort& port);

  SoftSwitchSettings settings_;
  std::vector<SoftPort> ports_;
  fabric::PsTime now_{};
  fabric::Switch switch_;
  fabric::Switch plain_;
  ByteFramePool pool_;
  Prng random_;
  std::vector<ByteFrame*> burst_;                 // what came in the current burst
  std::vector<fabric::PsTime> waiting_since_;     // by port: when the first frame came to an empty link
  std::vector<std::vector<ByteFrame*>> leaving_;  // by port: left the link, not yet taken by the interface
  std::array<iovec, 2 * kTrains> pieces_{};
  std::array<port::TxTrain, kTrains> trains_{};
  fabric::PsTime ask_again_{};
  std::array<std::uint64_t, fabric::kFateCount> refused_{};
  SoftSwitchCounters counters_;
};

}  // namespace mrc::lab
