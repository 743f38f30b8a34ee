// When a SACK comes, and what it says.
#include "conform/phrases.h"

namespace mrc::conform {
namespace {

using wire::Segment;

/// A packet in the middle of a long message: it completes nothing, so no answer is due but by its own
/// trigger.
Out middle(int psn) {
  return {.psn = psn,
          .at = 256u * static_cast<unsigned>(psn),
          .length = 256,
          .segment = psn == 0 ? Segment::first : Segment::middle,
          .message = 1 << 18};
}

Outcome sack_for(Bench& b, const Out& packet) {
  b.write(packet);
  return b.await<wire::Sack>() ? pass() : nothing_came("SACK");
}

Outcome on_request(Bench& b) {
  Out packet = middle(0);
  packet.ack_request = true;
  return sack_for(b, packet);
}

Outcome on_repair(Bench& b) {
  Out packet = middle(0);
  packet.rtx = true;
  return sack_for(b, packet);
}

Outcome on_mark(Bench& b) {
  Out packet = middle(0);
  packet.ecn = wire::Ecn::ce;
  packet.ev = Ev(0xC1C1);
  b.write(packet);
  const auto heard = b.await<wire::Sack>();
  if (!heard) return nothing_came("SACK");
  return heard->as<wire::Sack>()->mark == wire::SackMark::skip_once ? pass()
                                                                    : unexpected("m = SKIP_ONCE", *heard);
}

Outcome on_probe(Bench& b) {
  b.probe(0x1357);
  const auto heard = b.await<wire::Sack>();
  if (!heard) return nothing_came("SACK");
  const auto& sack = *heard->as<wire::Sack>();
  if (!sack.probe_reply) return unexpected("pr = 1", *heard);
  return sack.ack_psn_offset == 0x1357 ? pass() : unexpected("probe id 0x1357", *heard);
}

Outcome by_bytes(Bench& b) {
  // Each packet counts at least 1024, however short it is.
  const int packets = static_cast<int>((b.settings().sack_bytes + 1023) / 1024);
  for (int i = 0; i < packets; ++i) b.write(middle(i));
  return b.await<wire::Sack>() ? pass() : fail("no SACK after " + std::to_string(packets) + " packets");
}

Outcome bitmap(Bench& b) {
  for (const int psn : {0, 2, 5}) b.write(middle(psn));
  const auto heard = b.any_sack();
  if (!heard) return nothing_came("SACK");
  const auto& sack = *heard->as<wire::Sack>();
  if (sack.cack_psn != b.ours(0)) return unexpected("cack_psn = the first PSN", *heard);
  for (int i = 0; i < 64; ++i) {
    const int psn = sack.sack_offset + i;  // cack is our PSN 0
    const bool there = psn <= 0 || psn == 2 || psn == 5;
    if (psn > 0 && there != (sack.bitmap >> i & 1)) {
      return fail("PSN first+" + std::to_string(psn) +
                  (there ? " arrived and has a clear bit" : " never came and has its bit set"));
    }
  }
  return pass();
}

std::optional<Heard> triggered(Bench& b, Out packet) {
  packet.ack_request = packet.rtx = true;
  b.write(packet);
  return b.await<wire::Sack>();
}

Outcome trigger_offset(Bench& b) {
  b.write(middle(0));
  const auto heard = triggered(b, middle(4));
  if (!heard) return nothing_came("SACK");
  const auto& sack = *heard->as<wire::Sack>();
  return sack.cack_psn + sack.ack_psn_offset == b.ours(4)
             ? pass()
             : unexpected("ack_psn_offset of the trigger", *heard);
}

Outcome ev_echo(Bench& b) {
  Out packet = middle(0);
  packet.ev = b.carries_flow_labels() ? Ev(0x0ABCD00D) : Ev(0xD00D);
  const auto heard = triggered(b, packet);
  if (!heard) return nothing_came("SACK");
  return heard->as<wire::Sack>()->entropy == packet.ev ? pass()
                                                       : unexpected("the packet's EV as entropy", *heard);
}

Outcome timestamp_echo(Bench& b) {
  Out packet = middle(0);
  packet.timestamp = 0x9000;
  const Time sent = b.now();
  const auto heard = triggered(b, packet);
  if (!heard) return nothing_came("SACK");
  const auto held = static_cast<std::uint16_t>(heard->as<wire::Sack>()->echo.ticks - 0x9000);
  // Advanced by the time that the packet was held, which is not more than we waited.
  return Duration(held * 128) <= heard->at - sent + 256ns
             ? pass()
             : unexpected("the timestamp, or little more", *heard);
}

Outcome counts_bytes(Bench& b) {
  // 64 bytes of payload: UDP header 8, BTH 12, METH 4, RETH 16, payload, iCRC 4; and 40 more.
  constexpr std::uint32_t kEach = 8 + 12 + 4 + 16 + 64 + 4 + 40;
  constexpr std::uint32_t kPackets = 40;
  const auto before = b.any_sack();
  if (!before) return nothing_came("SACK");
  for (std::uint32_t i = 0; i < kPackets; ++i) b.write({.psn = static_cast<int>(i) + 1, .at = 4096});
  b.collect(b.settings().quiet);
  const auto after = b.any_sack();
  if (!after) return nothing_came("SACK");
  const std::uint32_t units =
      (after->as<wire::Sack>()->rcvd_bytes - before->as<wire::Sack>()->rcvd_bytes) & 0xFFFFFF;
  const std::uint32_t wanted = kPackets * kEach / 256;
  // Rounding, and a packet that asked for the second SACK.
  return units >= wanted && units <= wanted + 2 ? pass()
                                                : fail("rcvd_bytes grew by " + std::to_string(units) +
                                                       " units instead of " + std::to_string(wanted));
}

Outcome alternates(Bench& b) {
  std::vector<wire::Sack> sacks;
  for (int i = 1; i < 300; ++i) {  // PSN 0 is missing
    Out packet = middle(i);
    packet.at = 256;
    packet.ack_request = packet.rtx = i >= 200;
    b.write(packet);
    if (i < 200) continue;
    const auto heard = b.await<wire::Sack>();
    if (!heard) return nothing_came("SACK");
    sacks.push_back(*heard->as<wire::Sack>());
  }
  const auto covers_hole = [](const wire::Sack& s) { return s.sack_offset <= 1 && s.sack_offset + 63 >= 1; };
  bool beyond = false;
  for (std::size_t i = 1; i < sacks.size(); ++i) {
    if (!covers_hole(sacks[i - 1]) && !covers_hole(sacks[i]))
      return fail("two SACKs in a row say nothing of the lowest hole");
    beyond = beyond || sacks[i].sack_offset > 64;
  }
  return beyond ? pass() : fail("no SACK says what arrived more than 64 PSNs beyond the hole");
}

constexpr Check kChecks[] = {
    {"sack_on_request", "MRC-RSP-005", Role::responder, "the A bit brings a SACK", on_request},
    {"sack_on_repair", "MRC-RSP-005", Role::responder, "a packet with rtx brings a SACK", on_repair},
    {"sack_on_mark", "MRC-RSP-005", Role::responder, "ECN-CE brings a SACK with m = SKIP_ONCE", on_mark},
    {"sack_on_probe", "MRC-WIRE-025", Role::responder,
     "a probe, whatever its PSN, brings a SACK with pr and its id", on_probe},
    {"sack_by_bytes", "MRC-RSP-005", Role::responder,
     "a SACK comes by bytes; each packet counts at least 1024", by_bytes},
    {"sack_bitmap", "MRC-WIRE-022", Role::responder, "bit i is PSN cack + sack_offset + i, set if it arrived",
     bitmap},
    {"sack_trigger", "MRC-WIRE-022", Role::responder, "ack_psn_offset names the packet that brought the SACK",
     trigger_offset},
    {"ev_echo", "MRC-WIRE-028", Role::responder, "entropy is the EV of the packet that brought the SACK",
     ev_echo},
    {"timestamp_echo", "MRC-RSP-009", Role::responder, "the timestamp comes back, advanced by the time held",
     timestamp_echo},
    {"sack_counts_bytes", "MRC-CC-022", Role::responder,
     "rcvd_bytes counts UDP length + 40 of each packet, in units of 256", counts_bytes},
    {"sack_alternates", "MRC-RSP-006", Role::responder,
     "lowest hole and newest arrivals are reported within two SACKs", alternates},
};

}  // namespace

std::span<const Check> sack_checks() { return kChecks; }

}  // namespace mrc::conform
