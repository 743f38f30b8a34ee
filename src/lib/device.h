// The soft device: the one narrow door between the C interfaces (libmrc, verbs) and the software NIC in this
// process.
//
// The shells above check arguments, keep attributes for queries and translate types; the device below moves
// data. Threads: every function may be called from any thread; destroying an object must not race with
// another use of it. Listeners are called from the progress thread or from the thread that polls, with no
// lock of the device held that a listener's own call into the device would need; they must be short. Errors
// are errno values; 0 is success.
#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"
#include "lib/device_types.h"
#include "lib/discovery.h"
#include "node/profile_store.h"

namespace mrc::lib {

class CompletionQueue;
class QueuePair;

/// Told once per arm() when a completion (solicited, or failed, if only those were asked for) has entered the
/// CQ.
class CqListener {
 public:
  virtual void on_cq_event() = 0;
  /// An entry was lost for want of room: the CQ and its QPs are in error. Told once.
  virtual void on_cq_overrun() = 0;

 protected:
  ~CqListener() = default;
};

/// Told of what happens to one QP outside its completions.
class QpListener {
 public:
  /// The QP left RTS or RTR by itself. `access`: because of what the peer asked for, not of what we sent.
  virtual void on_qp_fatal(bool access) = 0;
  /// The first packet arrived while the QP was still in RTR.
  virtual void on_established() = 0;

 protected:
  ~QpListener() = default;
};

/// Told of what happens to the device, until unlisten() returns.
class DeviceListener {
 public:
  virtual void on_port(PortId port, bool active) = 0;
  virtual void on_gid_change(PortId port) = 0;

 protected:
  ~DeviceListener() = default;
};

/// A protection domain: only the device knows what is in it.
struct Pd {
  std::uint32_t id = 0;
  bool operator==(const Pd&) const = default;
};

/// A registered region. The keys are valid until deregister() returns; after it nothing is read or written
/// there, even by packets that were in flight.
struct Region {
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
};

class CompletionQueue {
 public:
  /// Fills at most out.size() entries, oldest first; drives the device forward when there are none. Returns
  /// how many, or -1 once the queue has overrun and its entries are read.
  virtual int poll(std::span<WorkCompletion> out) = 0;
  /// Ask for one CqListener::on_cq_event().
  virtual void arm(bool solicited_only) = 0;
  virtual std::uint32_t depth() const = 0;
  virtual int resize(std::uint32_t depth) = 0;  // EINVAL when more entries wait than would fit

 protected:
  ~CompletionQueue() = default;
};

struct QpInit {
  Pd pd;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  std::uint32_t send_depth = 0;
  std::uint32_t recv_depth = 0;
  std::uint32_t max_send_sge = 1;
  std::uint32_t max_inline = 0;
  QpListener* listener = nullptr;  // may be null
};

class QueuePair {
 public:
  virtual Qpn qpn() const = 0;
  virtual engine::QpState state() const = 0;
  /// The transition is legal and the attributes are in range. EINVAL: no such route, GID index or profile;
  /// EAFNOSUPPORT: the remote GID is IPv4 and the device IPv6, or the other way round;
  /// EBUSY, ENOMEM, ENETUNREACH as they read. `next` may equal the state: attributes change in place.
  /// Going to reset drops all work and its completions silently; going to error flushes it.
  virtual int modify(engine::QpState next, const QpAttributes& attributes) = 0;

  struct Posted {
    int error = 0;          // of the first request that was not taken
    std::size_t count = 0;  // how many were taken before it
  };
  /// States and lengths are checked here: EINVAL outside RTS and ERR, ENOMEM when the queue is full (a
  /// signaled request keeps its place until its completion is polled), EINVAL for lkeys that are not of the
  /// QP's PD, EOPNOTSUPP for a read whose peer is not of this device. In ERR work is taken and flushed.
  virtual Posted post_send(std::span<const SendRequest> requests) = 0;
  /// Free places in the send queue now: a caller that is alone on the QP can post so many without ENOMEM.
  virtual std::size_t send_room() const = 0;
  /// Receives serve immediates only, so a request is its wr_id. EINVAL in RESET, ENOMEM when full.
  virtual Posted post_receive(std::span<const std::uint64_t> wr_ids) = 0;
  /// The planes of its paths, by port; none before RTR.
  virtual std::vector<PlaneStatus> planes() const { return {}; }

 protected:
  ~QueuePair() = default;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceConfig& config() const = 0;
  virtual const Limits& limits() const = 0;
  virtual WireTerms wire_terms() const { return {}; }
  /// Hints that programs hold on it: they are nothing to the device but a number that it promised.
  std::atomic<std::uint32_t> hints = 0;
  virtual PortStatus port_status(PortId port) const = 0;
  /// The table as it is now; config().ports[i].gids is as it was at discovery.
  virtual std::vector<GidEntry> gids(PortId port) const = 0;

  virtual Result<Pd> create_pd() = 0;
  virtual int destroy_pd(Pd pd) = 0;  // EBUSY while regions or QPs are in it

  /// `iova` is how requests name the first byte (zero_based: 0). EINVAL, ENOMEM.
  virtual Result<Region> register_memory(Pd pd, void* address, std::size_t length, std::uint64_t iova,
                                         Access access) = 0;
  virtual int deregister(Region region) = 0;

  /// `depth` >= 1; `listener` may be null.
  virtual Result<CompletionQueue*> create_cq(std::uint32_t depth, CqListener* listener) = 0;
  virtual int destroy_cq(CompletionQueue* cq) = 0;  // EBUSY while QPs use it

  virtual Result<QueuePair*> create_qp(const QpInit& init) = 0;
  /// On return nothing of the QP is in flight, its completions are gone from its CQs, its listener is not
  /// called.
  virtual int destroy_qp(QueuePair* qp) = 0;

  virtual DeviceCounters counters() const { return {}; }

  virtual void listen(DeviceListener* listener) = 0;
  virtual void unlisten(DeviceListener* listener) = 0;

  // --- for controllers ---
  /// EV formats, EV and CC profiles of this device, on this node.
  virtual node::ProfileStore& profiles() = 0;
  /// A disabled port is down for every QP and in port_status(). EINVAL: no such port.
  virtual int set_port_admin(PortId port, bool enabled) = 0;
  /// Sends all requests at once and waits for answers: `answers` in the order of arrival. 0; ETIMEDOUT when
  /// some are missing; EINVAL, EAGAIN, ENETUNREACH before anything was sent.
  virtual int endpoint_batch(std::span<const EndpointRequest> requests, Duration timeout,
                             std::vector<EndpointAnswer>& answers) = 0;
};

/// Makes the device of this process from its configuration: NIC, ports, progress thread.
/// Each caller gets the same object while anyone holds it. EACCES, EADDRINUSE, ENODEV with a
/// sentence.
Result<std::shared_ptr<Device>> open_device(const DeviceConfig& config);

}  // namespace mrc::lib
