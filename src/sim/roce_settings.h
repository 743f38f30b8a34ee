// Every knob of the RoCEv2 baseline on one page. Defaults are those of the publications on DCQCN (2015) and
// of NICs as they are sold; QPs per message is what operators of ECMP fabrics turn first.
#pragma once

#include <cstdint>

#include "sim/ps.h"

namespace mrc::sim {

/// DCQCN's reaction point: how a sender's rate follows congestion notifications.
struct DcqcnSettings {
  double g = 1.0 / 256;                 // weight of a notification in alpha
  Ps alpha_timer = 55'000'000;          // alpha decays once per this without a notification
  Ps rate_timer = 55'000'000;           // an increase per this,
  std::uint64_t rate_bytes = 10 << 20;  // and one per so many bytes sent
  std::uint32_t fast_stages = 5;        // increases that only go back toward the former rate
  double additive = 40e6;               // bits per second per additive increase,
  double hyper = 200e6;                 // and per hyper increase, times the stages beyond fast ones
  double min_rate = 40e6;
};

struct RoceSettings {
  std::uint16_t qps = 1;  // a message is cut into as many parts, each on a QP of its own
  bool dcqcn = true;      // otherwise senders send at line rate, and only PFC holds them
  DcqcnSettings rate;
  Ps cnp_interval = 50'000'000;  // a receiver notifies a QP's sender at most once per this
  std::uint16_t ack_every = 16;  // packets
  Ps timeout = 16'777'216'000;   // without progress: go back (1.024 us * 2^14)
  std::uint8_t retries = 7;      // then the QP has failed
  bool pfc = true;               // lossless: switches stop their neighbours
  double pfc_xoff_bdp = 0.25;    // bytes of one ingress port inside a switch, in BDPs, that stop it,
  double pfc_xon_bdp = 0.125;    // and that let it go on
};

}  // namespace mrc::sim
