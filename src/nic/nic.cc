// The life of QPs, and what ports do to all of them.
#include "nic/nic.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "engine/sizes.h"

namespace mrc::nic {
namespace {

using engine::QpState;

struct DeafObserver final : Observer {};
DeafObserver deaf;

engine::QpLimits limits_of(const QpCreate& made, const QpConnect& c) {
  engine::QpLimits limits;
  limits.send_depth = made.send_depth;
  limits.recv_depth = made.recv_depth;
  limits.path_mtu = c.path_mtu;
  limits.mpr_dest = c.mpr_dest;
  limits.max_wimm_dest = c.max_wimm_dest;
  limits.dynamic_mpr = c.dynamic_mpr;
  return limits;
}

engine::QpConfig engine_config(const Qp& qp, const QpConnect& c, std::uint64_t seed,
                               engine::Incoming& incoming) {
  engine::QpConfig config;
  config.local = qp.qpn;
  config.remote = c.remote;
  config.receive_psn = c.receive_psn;
  config.limits = qp.limits;
  config.responder = c.responder;
  config.paths = c.path_settings;
  config.path_table = *qp.paths;
  config.incoming = &incoming;
  config.seed = seed ^ (std::uint64_t{qp.qpn.value} << 32 | c.remote.value);
  return config;
}

}  // namespace

Nic::Nic(const NicConfig& config)
    : config_(config),
      observer_(config.observer != nullptr ? *config.observer : deaf),
      pool_(config.limits.packets_in_flight),
      incoming_(config.probes.question_gap),
      regions_(config.limits.regions, config.key_secret),
      qps_(config.limits.qps, config.qpns),
      scheduler_(config.scheduler),
      probe_budget_(config.probes),
      endpoint_(config.limits, config.endpoint, config.paths, config.seed, timers_),
      up_(config.ports),
      seeds_(config.seed) {}

Nic::~Nic() {
  qps_.for_each([&](Qp& qp) { detach(Time::max(), qp); });
}

int Nic::init(Qp& qp) {
  if (qp.state != QpState::reset) return EINVAL;
  qp.early_receives.reserve(qp.made.recv_depth);
  qp.state = QpState::init;
  return 0;
}

// MRC-NIC-014: hints of QPs reach the controller that they share, and no two controllers have one seed.
CongestionContext& Nic::context_for(Peer& peer, const QpConnect& connect) {
  for (auto& context : peer.contexts) {
    if (context->profile != connect.cc_profile) continue;
    context->note_hints(connect.hints);
    return *context;
  }
  auto congestion = config_.congestion->make({connect.cc_profile, peer, connect.path_mtu, connect.hints,
                                              static_cast<std::uint32_t>(seeds_.next() >> 32)});
  return *peer.contexts.emplace_back(
      std::make_unique<CongestionContext>(peer, connect.cc_profile, connect.hints, std::move(congestion)));
}

int Nic::connect(Time now, Qp& qp, const QpConnect& connect) {
  if (qp.state != QpState::init || connect.service_level >= kServiceLevels) return EINVAL;
  qp.paths = connect.paths != nullptr ? connect.paths : config_.paths;
  if (qp.paths == nullptr || qp.paths->empty()) return EINVAL;
  if (connect.carriers != nullptr && connect.carriers->size() != qp.paths->size()) return EINVAL;
  try {
    attach(now, qp, connect);
  } catch (const std::bad_alloc&) {  // it stays in INIT, with the receives that it has
    detach(now, qp);
    return ENOMEM;
  }
  return 0;
}

void Nic::attach(Time now, Qp& qp, const QpConnect& connect) {
  timers_.make_room(3 * std::size_t{qps_.size()} + 2);  // a QP, its context and its peer
  qp.carriers = connect.carriers;
  qp.peer = &peers_.acquire(connect.peer, connect.peer_addresses);
  qp.peer->qps.push_back(qp);
  qp.context = &context_for(*qp.peer, connect);
  ++qp.context->users;
  qp.service_level = connect.service_level;
  qp.context->waiting.admit(qp.service_level);
  qp.dscp = connect.dscp;
  qp.quantum = std::max(config_.scheduler.quantum, connect.path_settings.spray_unit);
  qp.remote_write = connect.remote_write;
  qp.pkey = connect.pkey;
  qp.limits = limits_of(qp.made, connect);
  qp.packet_bytes = engine::cc_bytes_max(connect.path_mtu);
  qp.engine.emplace(engine_config(qp, connect, config_.seed, incoming_), *qp.context->congestion, pool_,
                    connect.sink != nullptr ? connect.sink : config_.sink);
  qp.engine->modify(now, QpState::init);
  for (const std::uint64_t wr_id : qp.early_receives) qp.engine->post_receive(wr_id);
  qp.early_receives = {};
  qp.engine->modify(now, QpState::rtr);
  for (std::uint8_t p = 1; p <= kMaxPorts; ++p) {
    if (config_.ports.has(PortId(p)) && !up_.has(PortId(p))) qp.engine->handle_port(now, PortId(p), false);
  }
  qp.state = QpState::rtr;
  touch(qp);
}

int Nic::start(Time now, Qp& qp, const QpSend& send) {
  if (qp.state != QpState::rtr || !qp.engine) return EINVAL;
  qp.limits.mpr = send.mpr;
  qp.limits.max_wimm = send.max_wimm;
  qp.engine->prepare_send(send.send_psn, qp.limits, send.requestor, *qp.context->congestion, pool_);
  if (const int error = qp.engine->modify(now, QpState::rts); error != 0) return error;
  qp.state = QpState::rts;
  touch(qp);
  return 0;
}

// MRC-NIC-015: access, class, service level, hints, timeout and retries change while a QP runs.
int Nic::adjust(Qp& qp, const QpAdjust& to) {
  if (!qp.engine || to.service_level >= kServiceLevels) return EINVAL;
  qp.remote_write = to.remote_write;
  qp.dscp = to.dscp;
  set_level(qp, to.service_level);
  qp.context->note_hints(to.hints);
  qp.engine->set_retries(to.requestor);
  touch(qp);
  return 0;
}

/// It stands in one queue at most: it leaves that, and comes back by its new level.
void Nic::set_level(Qp& qp, std::uint8_t level) {
  if (level == qp.service_level) return;
  leave_turn(qp);
  qp.service_level = level;
  qp.context->waiting.admit(level);
}

int Nic::stop(Time now, Qp& qp) {
  if (qp.state == QpState::reset) return EINVAL;
  if (qp.engine) {
    qp.engine->modify(now, QpState::error);
    touch(qp);
  }
  qp.state = QpState::error;
  for (const std::uint64_t wr_id : qp.early_receives) flush_receive(qp, wr_id);
  qp.early_receives = {};
  return 0;
}

void Nic::detach(Time now, Qp& qp) {
  leave_turn(qp);
  scheduler_.forget(qp);
  if (sending_ == &qp) sending_ = nullptr;
  List<Qp, TouchTag>::remove(qp);
  List<Qp, AskTag>::remove(qp);
  uncall(qp);
  List<Qp, PeerTag>::remove(qp);
  timers_.remove(qp);
  if (qp.engine) {
    qp.engine->modify(now, QpState::error);  // gives back what it holds of the congestion window
    qp.engine.reset();
  }
  if (qp.context != nullptr && --qp.context->users == 0) {
    timers_.remove(*qp.context);
    auto& contexts = qp.peer->contexts;
    std::erase_if(contexts, [&](auto& c) { return c.get() == qp.context; });
  } else if (qp.context != nullptr) {
    wake(*qp.context);
  }
  qp.context = nullptr;
  if (qp.peer != nullptr) {
    if (qp.peer->users == 1) endpoint_.forget(*qp.peer), timers_.remove(*qp.peer);
    peers_.release(*qp.peer);
  }
  qp.peer = nullptr;
}

int Nic::reset(Time now, Qp& qp) {
  detach(now, qp);
  qp.early_receives = {};
  qp.heard = false;
  qp.state = QpState::reset;
  return 0;
}

void Nic::destroy_qp(Time now, Qp& qp) {
  detach(now, qp);
  for (CompletionQueue* cq : {qp.made.send_cq, qp.made.recv_cq}) {
    if (cq != nullptr) cq->purge(qp.qpn);
  }
  qps_.destroy(qp);
  wake_for_records();
}

int Nic::post_send(Time now, Qp& qp, const SendRequest& request) {
  if (!qp.engine) return EINVAL;
  if (qp.gather.keeps() && request.sges.size() > qp.gather.max_sge()) return EINVAL;
  if (request.inline_data && request.work.length > qp.gather.max_inline()) return EINVAL;
  const auto posted = qp.engine->post_send(now, request.work);
  if (posted.error != 0) return posted.error;
  if (request.inline_data) {
    qp.gather.store_inline(posted.work, request.sges);
  } else {
    qp.gather.store(posted.work, request.sges);
  }
  touch(qp);
  return 0;
}

int Nic::post_receive(Qp& qp, std::uint64_t wr_id) {
  if (qp.engine) {
    const int error = qp.engine->post_receive(wr_id);
    if (qp.engine->state() == QpState::error) touch(qp);  // taken, and flushed at once
    return error;
  }
  if (qp.state == QpState::error) return flush_receive(qp, wr_id);
  if (qp.state != QpState::init) return EINVAL;
  if (qp.early_receives.size() == qp.made.recv_depth) return ENOMEM;
  qp.early_receives.push_back(wr_id);
  return 0;
}

int Nic::flush_receive(Qp& qp, std::uint64_t wr_id) {
  complete(Time::min(), qp,
           {.wr_id = wr_id, .kind = engine::CompletionKind::receive, .status = engine::WorkStatus::flushed});
  return 0;
}

bool Nic::set_ev_state(Time now, Qp& qp, EvSlot slot, engine::EvState state) {
  if (!qp.engine || !qp.engine->set_ev_state(now, slot, state)) return false;
  touch(qp);
  return true;
}

// MRC-NIC-008: a port that goes down or comes up moves every QP, and every peer hears of it until it answers.
void Nic::set_port(Time now, PortId port, bool up) {
  if (!config_.ports.has(port) || up_.has(port) == up) return;
  up ? up_.add(port) : up_.remove(port);
  qps_.for_each([&](Qp& qp) {
    if (!qp.engine) return;
    qp.engine->handle_port(now, port, up);
    touch(qp);
  });
  peers_.for_each([&](Peer& peer) { endpoint_.announce(now, peer); });
  observer_.on_local_port(port, up);
}

/// False: no peer of ours has this address.
bool Nic::note_peer_ports(Time now, const Gid& source, PortMask up) {
  Peer* peer = peers_.find(source);
  if (peer == nullptr) return false;
  peer->qps.for_each([&](Qp& qp) {
    qp.engine->handle_peer_ports(now, up);
    touch(qp);
  });
  observer_.on_peer_ports(*peer, up);
  return true;
}

}  // namespace mrc::nic
