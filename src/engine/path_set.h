// The paths of one QP: the state of each EV, and how a doubted one is asked and a withdrawn one comes back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "base/prng.h"
#include "engine/events.h"
#include "engine/probe_table.h"
#include "engine/record_pool.h"
#include "engine/rotation.h"
#include "engine/settings.h"

namespace mrc::engine {

inline constexpr int kMaxEvs = 1024;
// EVs that are asked about their plane: one alone may share a dead cable with what fell silent.
inline constexpr int kPlaneWitnesses = 2;
inline constexpr int kFullPacket = 8;  // a spray unit is as long as so many full packets; short ones share it

class PathSet {
 public:
  /// REQUIRES 1 <= table.size() <= kMaxEvs; the table outlives the set.
  PathSet(std::span<const Path> table, const PathSettings& settings, std::uint64_t seed, const Narrator& say);

  // --- choosing ---
  /// The next EV for data through one of the ports that have room; not `avoid`, if there is any other.
  /// `eighths`: how long the packet is, of a full one.
  struct Heard {
    Ticks newest;      // when the newest packet left that was answered, on whatever EV
    Duration typical;  // what an answer takes
  };
  std::optional<EvSlot> choose(Time now, PortMask room, std::optional<EvSlot> avoid = {},
                               const std::optional<Heard>& heard = {}, int eighths = kFullPacket);
  /// The next packet starts a unit of its own: what the last one belongs to may be what does not answer.
  void end_unit() { unit_left_ = 0; }
  /// How many full packets the unit is long that a packet of so many eighths begins; 0: it joins the one
  /// under way.
  int next_unit(int eighths) const { return unit_left_ >= eighths ? 0 : settings_.spray_unit; }
  /// An EV for control packets: planes take turns, each on an EV that is known to work; not a plane by which
  /// nothing came in of late, nor one that did not answer.
  /// `with_last`: it leaves together with the last one, and takes the same way if that is still open.
  /// `came_by`: the EV of what it answers.
  std::optional<EvSlot> choose_control(PortMask room, bool with_last = false, std::optional<Ev> came_by = {});
  /// Something came in of late, but by no plane that is heard: the one that comes through may be the deaf
  /// one, or the one given up, whose answers the peer sends by a way that is dead. Then all take turns, those
  /// that something comes by the longer ones.
  bool is_torn() const { return !arrived().empty() && (heard() & arrived()).empty(); }
  /// Answers may not get through: torn, or a plane is thought deaf. It may be another that is dead, by which
  /// the peer answered, and by which all answers leave since.
  bool doubts_answers() const { return is_torn() || !(deaf_ & in_service()).empty(); }
  /// The slot of an EV that a peer echoed; a peer that saw only 16 bits of it echoes those.
  std::optional<EvSlot> find(Ev echoed) const;
  const Path& path(EvSlot s) const { return table_[s.value]; }
  /// The slot that tells the state of a path, whose copy this may be.
  EvSlot known_as(EvSlot s) const { return rotation_.has_copies() ? first_copy(table_, s) : s; }

  // --- what happened on a path ---
  void note_arrival(Time now, PortId port);
  void note_skip(Time now, EvSlot s, PathCause cause);
  void note_bad(Time now, EvSlot s, PathCause cause);
  void note_sent(Time now, EvSlot s);  // data
  /// A packet of this EV is no longer in flight: the peer has it, or it is to be sent again.
  void note_settled(Time now, EvSlot s, Ticks sent, bool arrived, Duration typical);
  /// The peer had a packet that took this EV, whatever became of it.
  void note_answered(EvSlot s) { slots_[s.value].proven = 1; }
  void note_works(EvSlot s) {
    note_answered(s);
    answer_by(s);
    deaf_.remove(path(s).port);
    quiet_.remove(path(s).port);
  }
  bool set_state(Time now, EvSlot s, EvState state);  // the controller's word: DENIED, or GOOD again
  void set_port(Time now, PortId port, bool up);
  void set_peer_ports(Time now, PortMask up);

  // --- asking a path ---
  /// Holds the EV back from data and asks it; the answer, or the silence, decides. False: no room to ask now.
  bool suspect(EvSlot s, Duration patience);
  /// A suspect answered something older than the question: it is slow, not dead, and may take so long.
  void note_slow(Time now, EvSlot s, Duration patience);
  /// A packet of the suspect was trimmed: the path works, and what was asked behind it may have found that
  /// same queue full. The question is closed.
  void acquit(EvSlot s);
  bool is_suspect(EvSlot s) const { return slots_[s.value].held != 0; }
  /// When an EV of this plane was asked that has not answered yet; nothing if none was.
  std::optional<TxOrder> asked(PortId port) const;
  /// Nothing was heard of this plane since asked(port): it stands or falls with that question, and carries no
  /// data until it is settled. Without a question there is nothing to wait for.
  void note_quiet(PortId port);
  /// Asks EVs that were never asked, each once, until as many questions are open as the setting says.
  void ask_ahead(Duration patience);
  bool asks_ahead() const { return settings_.ask_ahead != 0; }
  /// Asks whether the peer is there, on the EV that was last known to work.
  void ask_anyone(Time now, Duration patience);
  /// While a QP only receives, nothing tells whether its answers get through: ask the next plane's control
  /// EV.
  void ask_reverse(Duration patience);
  /// A question stayed unanswered and nothing else was heard since: silence proves nothing yet.
  bool in_doubt() const;
  struct ProbeToSend {
    EvSlot slot;
    std::uint16_t id;
  };
  bool has_probe() const { return question_due_ || revival_due_; }
  std::optional<ProbeToSend> poll_probe(Time now, PortMask room, TxOrder order);
  struct Answer {
    EvSlot slot;
    std::optional<PendingProbe> question;  // what was asked; nothing for the probe of a withdrawn EV
  };
  /// Which question this answers; each answer counts once.
  std::optional<Answer> on_probe_answer(Time now, std::uint16_t id);
  struct Silence {
    EvSlot slot;
    bool plane;  // the whole plane is quiet, not this EV alone
  };
  /// A suspect that stayed silent although the peer answered something sent later than the question
  /// (`heard`).
  std::optional<Silence> poll_silent(Time now, Ticks heard);
  void give_up_plane(Time now, PortId port);
  /// The plane that was given up since the last call, if one was: others to the same peer may want to know.
  std::optional<PortId> poll_given_up();
  /// An EV that was found silent, though not its plane, since the last call: the same for others.
  std::optional<EvSlot> poll_silent_ev();
  /// Another QP found this EV silent: it carries nothing until it was asked. False: it is not in use, or
  /// there is no room to ask.
  bool doubt_ev(EvSlot s, Duration patience);
  /// The plane carries nothing until some of its EVs were asked, and stands while one of them answers. False:
  /// there is nothing to ask, or it is being asked.
  bool doubt_plane(PortId port, Duration patience);
  /// How long probes of withdrawn EVs may take, and so how soon they are repeated.
  void set_patience(Duration d) {
    patience_ns_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(d.count(), 0, UINT32_MAX));
  }
  /// The peer, or this plane, speaks again after a long silence: ask the withdrawn EVs now.
  void hurry(Time now, std::optional<PortId> plane = {});

  void handle_timeout(Time now);
  Time next_timeout() const;

  EvState state(EvSlot s) const { return slots_[s.value].state(); }
  bool port_usable(PortId p) const { return (local_up_ & peer_up_).has(p); }
  PortMask usable_ports() const { return local_up_ & peer_up_; }
  const Rotation& rotation() const { return rotation_; }
  int size() const { return static_cast<int>(table_.size()); }
  std::size_t bytes() const { return slots_.bytes() + reverse_.bytes() + rotation_.bytes(); }

 private:
  static constexpr int kArrivals = 64;
  static constexpr std::uint32_t kTornTurn = 8, kTornShortTurn = 2;  // answers in a row, on average
  static constexpr int kArrivalAges = 2;  // or so many times as long as a probe may take
  static constexpr int kCoarse = 14;      // 16 us: 16 bits of it last a second
  static constexpr std::uint16_t kNoEv = 0xFFFF;
  static constexpr std::uint32_t kQuarters = 4;  // of a packet
  enum class Revival : std::uint8_t { none, resting, asking, waiting };
  struct Slot {
    std::uint32_t state_ : 2 = 0;      // EvState
    std::uint32_t revival_ : 2 = 0;    // Revival
    std::uint32_t held : 1 = 0;        // suspected: no data until it answers
    std::uint32_t asked : 2 = 0;       // probes of the burst under way
    std::uint32_t unanswered : 3 = 0;  // of those, one bit each
    std::uint32_t burst : 3 = 0;       // generation: tells this burst's answers from the last one's
    std::uint32_t backoff : 5 = 0;     // withdrawn: doublings of the interval between bursts
                                       // in service: quarters of packets that it may have in flight; 0: any
    std::uint32_t streak : 6 = 0;      // withdrawn: probes answered in a row. In service: packets in flight
    std::uint32_t losses : 6 = 0;      // recent ones, to tell the one bad EV from uniform loss
    std::uint32_t tried : 1 = 0;       // carried data
    std::uint32_t proven : 1 = 0;      // was answered, ever
    // Resting: next burst. Waiting: patience ends. On trial: when it was first tried. In service: when the
    // oldest packet in flight left, as far as one can tell.
    Ticks due;

    EvState state() const { return static_cast<EvState>(state_); }
    Revival revival() const { return static_cast<Revival>(revival_); }
    void set(EvState s) { state_ = static_cast<std::uint32_t>(s) & 3; }
    bool on_trial() const { return tried && !proven; }
    bool serves() const { return state() == EvState::good || state() == EvState::skip; }
    bool is_full() const { return backoff != 0 && kQuarters * streak >= backoff; }
    void set(Revival r) { revival_ = static_cast<std::uint32_t>(r) & 3; }
  };

  Duration patience() const { return Duration(patience_ns_); }
  static std::uint16_t revival_id(EvSlot s, int burst, int index);
  void change(Time now, EvSlot s, EvState to, PathCause cause);
  bool waits_for_proof(const Slot& slot, const std::optional<Heard>& heard) const;
  bool is_late(Duration age, Duration typical) const;
  bool keeps_waiting(Time now, const Slot& slot, const std::optional<Heard>& heard) const;
  std::optional<EvSlot> pick(Time now, PortMask open, std::optional<EvSlot> avoid,
                             const std::optional<Heard>& heard);
  void answer_by(EvSlot s) {
    reverse_[rotation_.plane_of(path(s).port)] = s;
    freshest_ = s;
  }
  std::optional<EvSlot> follow(Ev came_by, PortMask ports);
  bool may_withdraw(EvSlot s) const;
  void count_loss(Slot& slot);
  int needed(const Slot& slot) const;
  bool trusts_any() const;
  int burst_size(const Slot& slot) const;
  void rest(Time now, Slot& slot, Duration wait);
  bool revive(Time now, EvSlot s);
  void end_burst(Time now, EvSlot s);
  bool is_lost(PortId port) const;
  PortMask scouted() const;
  bool rest_plane(Time now, EvSlot scout, Duration pause);
  std::optional<ProbeToSend> poll_question(Time now, PortMask room, TxOrder order);
  std::optional<ProbeToSend> poll_revival(Time now, PortMask room);
  std::optional<Answer> on_revival_answer(Time now, std::uint16_t id);
  PendingProbe* free_probe();
  PortMask talking(PortMask open) const;
  bool hears_unasked(PortMask planes) const;
  PortMask in_service() const;
  PortMask heard() const;
  PortMask arrived() const { return (arrivals_ | arrivals_before_) & usable_ports(); }
  bool is_plane(PortId port) const { return rotation_.port_of(rotation_.plane_of(port)) == port; }
  bool is_asking(Question q) const;
  void note_deaf(EvSlot s);
  EvSlot control_ev_after(EvSlot s) const;
  void return_to_service(Time now, EvSlot s, PathCause cause);

  std::span<const Path> table_;
  PathSettings settings_;
  Prng prng_;
  const Narrator& say_;
  FixedArray<Slot> slots_;
  Rotation rotation_;
  FixedArray<EvSlot> reverse_;  // per plane: the EV for control packets
  ProbeTable probes_;
  PortMask local_up_, peer_up_ = PortMask(~0u);  // of those that are planes of ours
  PortMask deaf_;                                // planes whose control EV did not answer
  PortMask arrivals_, arrivals_before_;  // ports by which the last kArrivals packets came, and those before
  PortMask quiet_;   // planes of which nothing is heard, while a question to one of their EVs is open
  EvSlot freshest_;  // the EV that was last known to work, or was not asked yet since it did
  std::optional<EvSlot> unit_;     // the spray unit under way
  std::uint16_t unit_left_ = 0;    // of it, in eighths of a full packet
  bool revival_due_ : 1 = false;   // some withdrawn EV has a probe to send
  bool question_due_ : 1 = false;  // some question may not have been asked yet
  std::uint8_t control_turn_ = 0, reverse_turn_ = 0;
  std::uint8_t arrived_ = 0;  // packets, toward kArrivals
  std::uint8_t next_question_ = 0;
  std::uint8_t given_up_ = 0;    // a plane's port, until somebody asked; 0: none
  std::uint16_t withdrawn_ = 0;  // EVs in ASSUMED_BAD
  std::uint16_t recent_losses_ = 0;
  std::uint16_t silent_ = kNoEv;      // found so, until somebody asked
  std::uint16_t ahead_ = 0;           // EVs before it were asked while the QP was new
  std::uint16_t arrivals_since_ = 0;  // when arrivals_ began, coarse
  Ticks chosen_at_;                   // when an EV was last chosen for data
  std::uint32_t patience_ns_ = 150'000;
  Time next_revival_ = kNever;      // no withdrawn EV has anything to do before
  Time next_question_at_ = kNever;  // no question's patience ends before
};

}  // namespace mrc::engine
