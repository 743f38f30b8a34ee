// The way onto the wire: bursts of packets out and in, something to sleep on, and the state of the link.
//
// A port moves bytes and knows nothing of MRC. It comes in two layers:
//   Layer::datagram  The caller's bytes begin at BTH and end with the iCRC; the port writes UDP and IP.
//                    UdpPort (kernel sockets), FramedPort (writes the headers itself, over a frame port).
//   Layer::frame     The caller's bytes are a whole frame from the Ethernet header on. PacketPort, XdpPort.
// PcapPort, TracePort and FaultPort wrap any port and are ports themselves.
//
// Threads: one caller at a time for the whole object. tx() and rx() never allocate (except that a source
// port's first use opens its socket), block or log. fork(): the child must not use the parent's port.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "port/address.h"

namespace mrc::port {

enum class Layer : std::uint8_t { datagram, frame };

/// One or more packets that share a path and a class and leave in one operation: the unit of sending.
///
/// All packets are `packet_bytes` long except the last, which may be shorter; their bytes follow one another
/// in `pieces`, and a piece may hold part of a packet or several. Typical: header 0 | payload 0 | iCRC 0 +
/// header 1 | payload 1 | ..., with payload pieces pointing into the application's memory. The bytes are read
/// before tx() returns and not after.
struct TxTrain {
  const iovec* pieces = nullptr;
  std::uint32_t piece_count = 0;
  std::uint32_t packet_bytes = 0;  // layer's bytes in each packet (datagram: the UDP payload)
  std::uint16_t packets = 1;       // 1 .. Capabilities::max_train

  // Layer::datagram only; ignored at Layer::frame, where these are inside the bytes.
  std::uint16_t source_port = 0;  // UDP source port: EV[15:0]
  std::uint32_t flow_label = 0;   // IPv6 flow label, 20 bits; needs Capabilities::flow_label, else not sent
  std::uint8_t tos = 0;           // IPv4 TOS or IPv6 traffic class: DSCP << 2 | ECN
  const Address* to = nullptr;    // the peer; its family must be the port's
  const Address* outer =
      nullptr;  // SRv6: DA of an outer IPv6 header (a uSID carrier); needs Capabilities::outer_ip
  const Address* outer_next =
      nullptr;  // the second carrier of a path that does not fit one: goes into an SRH

  // Layer::frame only; needs Capabilities::checksum_offload. From `checksum_start` on (an offset into the
  // frame) the bytes are summed up into the field at checksum_start + checksum_offset, which holds the
  // pseudo-header's sum. 0: not wanted.
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;

  int error = 0;  // out: 0, or the errno for which this train was discarded
};

/// One packet that arrived. Everything it points to is valid until the next rx() on this port.
struct RxPacket {
  const std::byte* data = nullptr;  // UDP payload, or the frame from its Ethernet header on
  std::uint32_t size = 0;
  std::uint32_t flow_label = 0;   // 0 over IPv4, and when the port can't see it
  const Address* from = nullptr;  // datagram only, as are the fields below
  const Address* to = nullptr;    // our address that the packet was sent to (several when aliases are in use)
  std::uint16_t source_port = 0;  // UDP source port: EV[15:0]
  std::uint8_t tos = 0;           // DSCP << 2 | ECN, as it arrived: CE and the TRIMMED classes show here
  bool overheard = false;         // a copy: another process of this node got it too
  bool answered = false;        // a copy: that process answers, whoever asks; else it may not know the asker
  std::int64_t arrival_ns = 0;  // kernel receive time, CLOCK_REALTIME; 0 unless asked for at open
  // Frames only: not 0 when the headers stand once before several UDP payloads of this size (the last may be
  // shorter).
  std::uint32_t coalesced = 0;
  // Frames only: a checksum that the sender left to its device, as in TxTrain. Who hands the frame on passes
  // these on.
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};

struct Link {
  bool up = false;                    // administratively up and with carrier
  std::uint32_t mtu = 0;              // of the interface: bytes after the Ethernet header
  std::uint64_t bits_per_second = 0;  // as the driver says (veth: 10 Gb/s whatever it can do); 0: it doesn't
  std::uint32_t interface = 0;        // index
  bool operator==(const Link&) const = default;
};

/// QP numbers whose packets reach this port. Processes that share one UDP port have disjoint ranges.
struct QpnRange {
  Qpn first{16};  // below it: reserved numbers, endpoint operations among them
  Qpn last{0xFFFFFF};
};

struct Capabilities {
  Layer layer = Layer::datagram;
  std::uint32_t max_train = 1;        // packets in one TxTrain: the largest spray unit that saves anything
  std::uint32_t max_train_bytes = 0;  // sum of all packets in one TxTrain
  std::uint32_t max_pieces = 0;       // iovecs in one TxTrain
  std::uint32_t max_burst = 0;  // trains that one tx() takes well; more are accepted up to back-pressure
  std::uint16_t min_source_port = 0;  // lowest UDP source port that may be bound (1024 without privileges)
  bool flow_label = false;            // writes and reads the IPv6 flow label: 32-bit EVs arrive whole
  bool outer_ip = false;              // can encapsulate in an outer IPv6 header
  bool reserved_qpns = false;         // packets to QPN < qpns.first arrive here as well (endpoint operations)
  std::uint64_t receive_buffer =
      0;  // bytes of truesize the kernel queues before it drops: keep windows inside it
  bool checksum_offload = false;  // frames: TxTrain::checksum_start is obeyed
  bool cheap_to_ask = false;      // rx() makes no system call when nothing is there
};

struct Counters {
  std::uint64_t rx_packets = 0, rx_bytes = 0;
  std::uint64_t tx_packets = 0, tx_bytes = 0;
  std::uint64_t tx_discarded = 0;    // packets of trains that ended with an error
  std::uint64_t rx_overrun = 0;      // packets that the kernel dropped because we read too slowly
  std::uint64_t rx_malformed = 0;    // frames that weren't for us or weren't whole (frame-based ports)
  std::uint64_t rx_outside = 0;      // frames that didn't come by our segment id (framed port with a guard)
  std::uint64_t rx_wrong_inner = 0;  // frames whose inner addresses can't be true (framed port with a guard)
  std::uint64_t rx_stray = 0;        // packets for another process's QPs, handed over to it
};

class Port {
 public:
  virtual ~Port() = default;

  /// Sends trains in order until all are gone or the kernel has no room, and returns how many are dealt with:
  /// the caller offers the rest again later. A train that can never be sent is dealt with too: its `error` is
  /// set and it counts as lost on the way, so one bad path stops no other. EINVAL: the train breaks the rules
  /// above. EMSGSIZE: too long for the link. EADDRINUSE, EACCES: its source port belongs to somebody else.
  /// ENETUNREACH, EHOSTUNREACH, ENETDOWN: no route.
  virtual std::size_t tx(std::span<TxTrain> trains) = 0;

  /// Takes what has arrived, at most out.size() packets, without waiting. 0 means that nothing is there.
  virtual std::size_t rx(std::span<RxPacket> out) = 0;

  /// The caller looks again and again, whatever wait_fd() says: from now on that may keep silent.
  virtual void attend() {}
  /// The caller is about to sleep on wait_fd(). False: something has come that it does not tell of; call rx()
  /// until it has brought that, and rest() again.
  virtual bool rest() { return true; }

  /// Readable when packets have arrived. Level-triggered: drain rx() before sleeping. Sleep on it with
  /// poll(): a socket that sits in an epoll set pays for a wake-up at every packet, also while its owner
  /// spins.
  virtual int wait_fd() const = 0;
  /// Readable when service() has something to do: sleep on it as well. -1: never.
  virtual int event_fd() const { return -1; }
  /// After tx() took fewer than all: an fd that polls writable when it is worth trying again; else -1.
  virtual int tx_blocked_fd() const { return -1; }

  /// Link events and housekeeping. Call it after wait_fd() woke the caller, and each 100 us or so of
  /// spinning.
  virtual void service() {}
  /// The link changed since the last call (service() notices it): the new state. Each change is told once.
  virtual std::optional<Link> poll_link_event() { return std::nullopt; }

  virtual Link link() const = 0;
  virtual Address local() const = 0;  // source address of what we send; frame ports: unspecified
  virtual Capabilities capabilities() const = 0;
  virtual QpnRange qpns() const { return {}; }
  virtual const Counters& counters() const = 0;

  /// Makes a source port ready (datagram ports bind a socket for it on first use). Trying at set-up finds out
  /// early that a path's port can't be had: 0 or the errno that trains with it would get.
  virtual int prepare_source_port(std::uint16_t source_port) { return static_cast<void>(source_port), 0; }
};

// What a datagram port writes, so that a caller can compute the iCRC beforehand: source address local(),
// destination *TxTrain::to, destination UDP port as opened. IPv4: no options, identification 0, DF set,
// fragment offset 0. IPv6: next header UDP, no extension headers between it and UDP (an outer header is
// outside the iCRC). The UDP checksum, TTL or hop limit, TOS or traffic class and flow label are masked by
// the iCRC. Identification on the wire may count up within a train that hardware segments; receivers compute
// with 0 (see docs/decisions).

}  // namespace mrc::port
