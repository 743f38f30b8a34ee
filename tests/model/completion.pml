/* Completion order and window logic of one QP, one direction, in a world that loses, duplicates and reorders.
 *
 * The sender has NPKT packets in messages, some of which end with an immediate. The network is a bag: any packet in it
 * may arrive next, get lost (LOSSES in all) or arrive twice (DUPS in all). Reports come back the same way. The sender may also repair a
 * packet that is not lost (SPURIOUS in all); what is lost it repairs when nothing else can happen any more.
 *
 * Names follow the engine: receive_window (cack, arrived, ends, messages), wimm_stash (stash, stash_next), flight (base,
 * next), send_queue (executed). PSNs are four bits wide and start before the wrap.
 *
 * Claims, in every interleaving:
 *   placed once      no packet is written twice
 *   receive order    immediates complete in send order, once each, when all before them is placed
 *   send order       sends complete in post order, once each, when executed at the responder
 *   window           nothing is sent or accepted beyond cack + WINDOW, and at most MAX_WIMM immediates are in flight
 *   nothing lost     everything completes, and no repair by timeout happens without a loss before it
 * -D BROKEN_... plants one mistake each; the test demands that every one is found. */

#define NPKT 6
#define NMSG 5
#define NWIMM 4
#define WINDOW 3
#define RING 4        /* power of two that holds WINDOW */
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef DUPS
#define DUPS 1
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#ifdef BROKEN_WINDOW
#define SEND_WINDOW (RING + 1)
#define MAX_WIMM 4    /* or that limit would hide the mistake */
#else
#define SEND_WINDOW WINDOW
#define MAX_WIMM 2
#endif

/* Each planted mistake in one place. */
#ifdef BROKEN_ORDER
#define IN_TURN(psn) true
#else
#define IN_TURN(psn) (AHEAD(psn, cack) <= 0)
#endif
#ifdef BROKEN_DUPLICATE
#define HERE_ALREADY(i) false
#else
#define HERE_ALREADY(i) arrived[PSN(i) & (RING - 1)]
#endif
#ifdef BROKEN_SILENCE
#define ANSWERS_END(i) false
#define ANSWERS_PROBE false
#else
#define ANSWERS_END(i) (ENDS(i) && AHEAD(PSN(i), cack) <= 0)
#define ANSWERS_PROBE (messages > 0)
#endif
#ifdef BROKEN_WIMM
#define WIMM_FITS true
#else
#define WIMM_FITS (WIMM(next) == NWIMM || WIMM_OPEN < MAX_WIMM)
#endif
#ifdef BROKEN_WINDOW
#define WITHIN(i) true
#else
#define WITHIN(i) (AHEAD(PSN(i), cack) <= WINDOW)
#endif

#define PSN(i) (((i) + 13) & 15)
/* Signed distance of four-bit numbers: -8 .. 7. No packet lives long enough to be further off. */
#define AHEAD(a, b) (((((a) - (b)) & 15) ^ 8) - 8)

/* Messages: packets 0, 1, 2 with immediates 0, 1, 2; packets 3-4 without; packet 5 with immediate 3. */
#define ENDS(i) ((i) != 3)
#define WIMM(i) ((i) < 3 -> 0 + i : ((i) == 5 -> 3 : NWIMM))   /* NWIMM: none */
#define LAST(m) ((m) + ((m) > 2))
#define LAST_OF_WIMM(k) ((k) + 2 * ((k) == 3))
#define WIMMS_OF(m) ((m) - ((m) > 3))   /* immediates among the first m messages */

/* The network. */
byte in_net[NPKT];
bool sack_full[2]; byte sack_cack[2]; byte sack_bits[2];
bool tack_full[2]; byte tack_executed[2];
bool probe_full;
byte lost, dups, spurious, timeouts;

/* The responder. */
byte cack = 12;               /* PSN(0) - 1 */
bool arrived[RING], ends[RING];
byte messages, stash_next;
bool stash_present[MAX_WIMM]; byte stash_psn[MAX_WIMM];
byte placed[NPKT], received;  /* received: completions of immediates */

/* The sender. */
byte base, next, executed, sent_done;
bool acked[NPKT];

byte x, y, z;  /* scratch, only inside d_step */

/* What is gone is forgotten, or every old value would count as another state. */
inline drop_sack(s) { sack_full[s] = false; sack_cack[s] = 0; sack_bits[s] = 0 }
inline drop_tack(t) { tack_full[t] = false; tack_executed[t] = 0 }

inline all_placed_up_to(last) {
  y = 0;
  do
  :: y <= last -> assert(placed[y] == 1); y++
  :: else -> break
  od;
  y = 0
}

/* Receive completions, in send order: the engine's contract is that they are drained after each arrival. */
inline drain_completions() {
  do
  :: received < NWIMM && stash_present[stash_next & (MAX_WIMM - 1)] &&
     IN_TURN(stash_psn[stash_next & (MAX_WIMM - 1)]) ->
     assert(stash_psn[stash_next & (MAX_WIMM - 1)] == PSN(LAST_OF_WIMM(received)));
     all_placed_up_to(LAST_OF_WIMM(received));
     stash_present[stash_next & (MAX_WIMM - 1)] = false;
     stash_psn[stash_next & (MAX_WIMM - 1)] = 0;
     stash_next++;
     received++
  :: else -> break
  od
}

/* A SACK, into a free place of the bag. */
inline report() {
  z = (sack_full[0] -> 1 : 0);
  sack_full[z] = true;
  sack_cack[z] = cack;
  sack_bits[z] = 0;
  x = 0;
  do
  :: x < WINDOW ->
     if
     :: arrived[(cack + 1 + x) & (RING - 1)] -> sack_bits[z] = sack_bits[z] | (1 << x)
     :: else
     fi;
     x++
  :: else -> break
  od;
  x = 0; z = 0
}

/* A Transport ACK says how many messages have been executed. Two may be on their way, so that they can overtake each
 * other; a third replaces one. */
inline acknowledge() {
  if
  :: tack_full[0] -> tack_full[1] = true; tack_executed[1] = messages
  :: else -> tack_full[0] = true; tack_executed[0] = messages
  fi
}

inline accept(i) {
  placed[i]++;
  assert(placed[i] == 1);
  if
  :: WIMM(i) < NWIMM ->
     assert(WIMM(i) - stash_next < MAX_WIMM);
     stash_present[WIMM(i) & (MAX_WIMM - 1)] = true;
     stash_psn[WIMM(i) & (MAX_WIMM - 1)] = PSN(i)
  :: else
  fi;
  arrived[PSN(i) & (RING - 1)] = true;
  ends[PSN(i) & (RING - 1)] = ENDS(i);
  z = messages;
  do
  :: arrived[(cack + 1) & (RING - 1)] ->
     cack = (cack + 1) & 15;
     arrived[cack & (RING - 1)] = false;
     if :: ends[cack & (RING - 1)] -> messages++ :: else fi;
     ends[cack & (RING - 1)] = false
  :: else -> break
  od;
  if :: messages != z -> acknowledge() :: else fi;
  z = 0;
  drain_completions()
}

inline arrive(i) {
  if
  :: AHEAD(PSN(i), cack) <= 0 || HERE_ALREADY(i) ->
     /* A duplicate: never written again, always answered. */
     if :: ANSWERS_END(i) -> acknowledge() :: else fi
  :: else ->
     assert(WITHIN(i));
     accept(i)
  fi;
  report()
}

inline on_sack(s) {
  /* Cumulative, then selective. An old report is harmless: it only says less. */
  do
  :: base < next && AHEAD(sack_cack[s], PSN(base)) >= 0 -> acked[base] = true; base++
  :: else -> break
  od;
  x = base;
  do
  :: x < next ->
     y = AHEAD(PSN(x), sack_cack[s]) + 8;   /* 9 is the first bit */
     if
     :: y >= 9 && (sack_bits[s] >> (y - 9)) & 1 -> acked[x] = true
     :: else
     fi;
     x++
  :: else -> break
  od;
  x = 0; y = 0
}

inline on_tack(t) {
  do
  :: executed < tack_executed[t] ->
     assert(messages > executed);
     all_placed_up_to(LAST(executed));
     executed++;
     sent_done++
  :: else -> break
  od;
  /* What has been executed has arrived. */
  do
  :: executed > 0 && base <= LAST(executed - 1) -> acked[base] = true; base++
  :: else -> break
  od
}

/* The immediates that the peer may still hold: sent and not known to be executed. */
#define WIMM_OPEN (WIMM(next) - WIMMS_OF(executed))
#define MAY_SEND (next < NPKT && next < base + SEND_WINDOW && WIMM_FITS)
#define DONE (sent_done == NMSG)

active proctype Sender() {
  byte i;
  do
  :: d_step { !DONE && MAY_SEND && in_net[next] < 2 -> in_net[next]++; next++ }
  :: !DONE && spurious < SPURIOUS && base < next ->
     i = base;
     do
     :: i + 1 < next -> i++
     :: break
     od;
     skip;  /* a d_step can't be jumped into */
     d_step { spurious++; if :: !acked[i] && in_net[i] < 2 -> in_net[i]++ :: else fi; i = 0 }
  :: d_step { sack_full[0] -> on_sack(0); drop_sack(0) }
  :: d_step { sack_full[1] -> on_sack(1); drop_sack(1) }
  :: d_step { tack_full[0] -> on_tack(0); drop_tack(0) }
  :: d_step { tack_full[1] -> on_tack(1); drop_tack(1) }
  :: timeout ->
     if
     :: DONE -> break
     :: else -> d_step {
       /* Silence: the oldest hole again, or, with nothing missing, a probe for a lost Transport ACK. */
       timeouts++;
       assert(timeouts <= lost);
       i = base;
       do
       :: i < next && acked[i] -> i++
       :: else -> break
       od;
       if
       :: i < next -> in_net[i]++
       :: else -> probe_full = true
       fi;
       i = 0 }
     fi
  od;
  assert(received == NWIMM && base == NPKT)
}

#define ROOM (!sack_full[0] || !sack_full[1])
#define ARRIVE(i) d_step { ROOM && in_net[i] > 0 -> in_net[i]--; arrive(i) }
#define LOSE(i) d_step { lost < LOSSES && in_net[i] > 0 -> in_net[i]--; lost++ }
#define COPY(i) d_step { dups < DUPS && in_net[i] == 1 -> in_net[i]++; dups++ }

active proctype Network() {
end:
  do
  :: ARRIVE(0)
  :: ARRIVE(1)
  :: ARRIVE(2)
  :: ARRIVE(3)
  :: ARRIVE(4)
  :: ARRIVE(5)
  :: d_step { ROOM && probe_full ->
       probe_full = false;
       if :: ANSWERS_PROBE -> acknowledge() :: else fi;
       report() }
  :: LOSE(0)
  :: LOSE(1)
  :: LOSE(2)
  :: LOSE(3)
  :: LOSE(4)
  :: LOSE(5)
  :: d_step { lost < LOSSES && sack_full[0] -> drop_sack(0); lost++ }
  :: d_step { lost < LOSSES && sack_full[1] -> drop_sack(1); lost++ }
  :: d_step { lost < LOSSES && tack_full[0] -> drop_tack(0); lost++ }
  :: d_step { lost < LOSSES && tack_full[1] -> drop_tack(1); lost++ }
  :: d_step { lost < LOSSES && probe_full -> probe_full = false; lost++ }
  :: COPY(0)
  :: COPY(1)
  :: COPY(2)
  :: COPY(3)
  :: COPY(4)
  :: COPY(5)
  od
}
