// Messages of the program become writes with an immediate; completions become events of the program.
#include <algorithm>

#include "sim/host_node.h"
#include "sim/world.h"

namespace mrc::sim {

std::unique_ptr<engine::Congestion> HostNode::make(const nic::CongestionRequest&) {
  auto made = engine::make_congestion(plan_.cc_profile(), plan_.settings.hints, self_ + 1);
  MRC_CHECK(made);
  return std::move(*made);
}

HostNode::Connection& HostNode::connection_to(Host peer) {
  const std::uint32_t found = by_peer_.find(peer);
  if (found != PeerMap::kNone) return connections_[found];
  const auto index = static_cast<std::uint32_t>(connections_.size());
  by_peer_.add(peer, index);
  Connection& c = connections_.emplace_back();
  c.peer = peer;
  c.qps.resize(plan_.settings.qps_per_pair);
  return c;
}

void HostNode::revive(Connection& c) {
  if (c.alive) return;
  c.alive = true;
  const auto index = static_cast<std::uint32_t>(&c - connections_.data());
  for (std::uint16_t q = 0; q < c.qps.size(); ++q) c.qps[q].qp = make_qp(c.peer, index, q);
  if (plan_.settings.connect_time == 0) return;
  c.opens_at = now_ + plan_.settings.connect_time;
  opening_.push_back({c.opens_at, index});
}

void HostNode::open_due() {
  if (opening_.empty()) return;
  const auto waits = [&](const Rest& r) { return r.until > now_; };
  const auto later = std::find_if(opening_.begin(), opening_.end(), waits);
  const std::vector<Rest> due(opening_.begin(), later);
  opening_.erase(opening_.begin(), later);
  for (const auto& [until, connection] : due) {
    for (std::uint32_t place = 0; place < connections_[connection].qps.size(); ++place) {
      if (!connections_[connection].qps[place].backlog.empty()) post(connection, place);
    }
  }
}

void HostNode::visit_qps(const QpVisitor& visit) {
  for (Connection& c : connections_) {
    if (!c.alive) continue;
    for (const PairQp& q : c.qps) {
      if (q.qp != nullptr) visit(c.peer, *q.qp);
    }
  }
}

// Both ends make their QP when they first need it: whoever sends, when it posts; the other, when a packet
// comes.
nic::Qp* HostNode::make_qp(Host peer, std::uint32_t connection, std::uint16_t place) {
  const HostSettings& s = plan_.settings;
  nic::QpCreate create;
  create.pd = nic::PdId(1);
  create.send_cq = create.recv_cq = &cq_;
  create.send_depth = s.send_depth;
  create.recv_depth = s.recv_depth;
  create.max_sge = 0;
  nic::Qp* qp = nic_.create_qp(create);
  MRC_CHECK(qp != nullptr);  // the workload said how many peers there are
  nic::QpConnect connect;
  connect.peer = gid_of(peer);
  connect.remote = wire_qpn(connections_[connection].generation, place);
  connect.path_mtu = s.path_mtu;
  connect.mpr_dest = s.mpr;
  connect.paths = plan_.paths(self_);
  connect.path_settings = s.paths;
  connect.responder = s.responder;
  nic::QpSend send;
  send.mpr = s.mpr;
  send.requestor = s.requestor;
  MRC_CHECK(nic_.init(*qp) == 0);
  for (std::uint16_t i = 0; i < s.recv_depth; ++i)
    nic_.post_receive(*qp, std::uint64_t{connection} << 16 | place);
  MRC_CHECK(nic_.connect(engine_time(now_), *qp, connect) == 0);
  MRC_CHECK(nic_.start(engine_time(now_), *qp, send) == 0);
  return qp;
}

void HostNode::send(const Message& message) {
  Connection& c = connection_to(message.peer);
  const auto connection = static_cast<std::uint32_t>(&c - connections_.data());
  const std::uint32_t sequence = c.next_sequence++;
  ++c.unfinished;
  // A message begins when its pair is set up.
  if (!c.asking) revive(c);
  const Ps begins = std::max(now_, c.opens_at);
  log_.sent.push_back({message.peer, sequence, message.flow, message.tag, message.bytes, begins});
  std::uint32_t index = static_cast<std::uint32_t>(sending_.size());
  if (free_sending_.empty()) {
    sending_.emplace_back();
  } else {
    index = free_sending_.back();
    free_sending_.pop_back();
  }
  sending_[index] = {message, static_cast<std::uint32_t>(log_.sent.size() - 1), connection, message.bytes, 0};
  tally_->pending += 2;  // it will be acknowledged here and received there
  const std::uint32_t qp = sequence % plan_.settings.qps_per_pair;
  c.qps[qp].backlog.push_back(index);
  post(connection, qp);
}

void HostNode::post(std::uint32_t connection, std::uint32_t place) {
  if (connections_[connection].asking) return;  // after the answer
  revive(connections_[connection]);
  if (now_ < connections_[connection].opens_at) return;
  PairQp& pair = connections_[connection].qps[place];
  while (pair.posted < pair.backlog.size()) {
    const std::uint32_t index = pair.backlog[pair.posted];
    Sending& s = sending_[index];
    const std::uint64_t bytes = std::min<std::uint64_t>(s.unposted, plan_.settings.write_bytes);
    nic::SendRequest request;
    request.work.wr_id = index;
    request.work.remote_va = s.message.bytes - s.unposted;
    request.work.rkey = key_;
    request.work.length = static_cast<std::uint32_t>(bytes);
    request.work.has_imm = bytes == s.unposted;
    request.work.imm = s.message.tag;
    if (nic_.post_send(engine_time(now_), *pair.qp, request) != 0) return;  // full: again after a completion
    s.unposted -= bytes;
    ++s.open_writes;
    if (s.unposted == 0) ++pair.posted;
  }
  pair.backlog.clear();
  pair.posted = 0;
}

bool HostNode::drain_completions() {
  nic::Cqe entries[16];
  const std::size_t n = cq_.poll(entries);
  for (std::size_t i = 0; i < n; ++i) {
    entries[i].kind == engine::CompletionKind::send ? on_send_done(entries[i]) : on_receive_done(entries[i]);
  }
  MRC_CHECK(!cq_.overrun());
  return n > 0;
}

void HostNode::on_send_done(const nic::Cqe& entry) {
  const auto index = static_cast<std::uint32_t>(entry.wr_id);
  const std::uint32_t connection = sending_[index].connection;
  SentRecord& record = log_.sent[sending_[index].record];
  const std::uint32_t place = record.sequence % plan_.settings.qps_per_pair;
  if (entry.status != engine::WorkStatus::success) record.failed = true;
  if (--sending_[index].open_writes == 0 && (sending_[index].unposted == 0 || record.failed)) {
    if (record.failed) ++tally_->failed;
    if (sending_[index].unposted > 0) ++connections_[connection].qps[place].posted;  // gave up halfway
    record.acknowledged = now_;
    --tally_->pending;
    --connections_[connection].unfinished;
    note_use(connection);
    const Message message = sending_[index].message;
    free_sending_.push_back(index);
    if (!record.failed) plan_.workload.on_sent(self_, message, *this);
  }
  if (connections_[connection].unfinished > 0) post(connection, place);
}

void HostNode::on_receive_done(const nic::Cqe& entry) {
  if (entry.status != engine::WorkStatus::success) return;
  const auto connection = static_cast<std::uint32_t>(entry.wr_id >> 16);
  const auto place = static_cast<std::uint32_t>(entry.wr_id & 0xFFFF);
  Connection& c = connections_[connection];
  const std::uint32_t sequence = c.qps[place].received++ * plan_.settings.qps_per_pair + place;
  log_.received.push_back({c.peer, sequence, now_});
  nic_.post_receive(*c.qps[place].qp, entry.wr_id);
  --tally_->pending;
  note_use(connection);
  plan_.workload.on_received(self_, c.peer, entry.imm, *this);
}

}  // namespace mrc::sim
