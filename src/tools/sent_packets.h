// One direction of a conversation: what was sent, on which EV, and what became of it, as a capture shows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/psn.h"
#include "base/time.h"
#include "wire/packet.h"

namespace mrc::tools {

/// Why a packet was sent again, as far as the capture tells.
enum class RepairCause : std::uint8_t { nack, trimmed, inferred, already_acknowledged, first_unseen };

struct Sending {
  enum class Kind : std::uint8_t { first, repair, seen_again } kind = Kind::first;
  RepairCause cause = RepairCause::inferred;  // of a repair
  Duration since_evidence{};  // repair: since the NACK or the trimmed packet, else since last sent
  Duration since_first{};
};

struct EvTally {
  std::uint64_t sent = 0, acknowledged = 0, trimmed = 0, nacked = 0, lost = 0, skipped = 0;
};

class SentPackets {
 public:
  struct Totals {
    std::uint64_t sent = 0, acknowledged = 0, trimmed = 0;
    std::uint64_t repaired[5] = {};  // by RepairCause
    Duration slowest_repair{};       // from evidence (NACK, trimmed packet) to repair
  };
  struct Acknowledged {
    std::uint64_t newly = 0;
    std::optional<Duration> round_trip;  // of the packet that triggered the SACK
  };

  Sending note_write(Time now, Psn psn, Ev ev, const wire::Write& write);
  void note_trimmed(Time now, Psn psn, Ev ev);
  void note_nack(Time now, const wire::Nack& nack);
  Acknowledged note_sack(Time now, const wire::Sack& sack);

  const Totals& totals() const { return totals_; }
  const std::map<Ev, EvTally>& evs() const { return evs_; }
  /// Sent and not known to have arrived, oldest first.
  std::vector<Psn> open() const;

 private:
  struct Record {
    Time first_sent = kNever, last_sent = kNever, evidence = kNever;
    Ev ev;
    RepairCause cause = RepairCause::inferred;
    bool acknowledged = false;
  };

  /// PSNs wrap; the map's keys do not.
  std::int64_t unwrap(Psn psn);
  bool is_acknowledged(std::int64_t key) const;
  Sending make_repair(Time now, const Record& record, bool acknowledged) const;
  std::uint64_t acknowledge(std::int64_t key);
  std::uint64_t acknowledge_through(std::int64_t key);

  std::map<std::int64_t, Record> records_;  // what is above the cumulative PSN, or was sent again below it
  std::map<Ev, EvTally> evs_;
  Totals totals_;
  std::int64_t newest_ = 0;
  std::optional<std::int64_t> cumulative_;
  bool any_ = false;
};

}  // namespace mrc::tools
