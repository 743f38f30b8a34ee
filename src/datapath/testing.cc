#include "datapath/testing.h"

#include <algorithm>

namespace mrc::datapath::testing {

std::size_t MemoryPort::tx(std::span<port::TxTrain> trains) {
  const std::size_t n = std::min(trains.size(), room);
  for (std::size_t i = 0; i < n; ++i) deliver(trains[i]);
  room -= n;
  return n;
}

void MemoryPort::deliver(const port::TxTrain& train) {
  train_lengths.push_back(train.packets);
  std::string bytes;
  for (std::uint32_t i = 0; i < train.piece_count; ++i) {
    bytes.append(static_cast<const char*>(train.pieces[i].iov_base), train.pieces[i].iov_len);
  }
  for (std::size_t at = 0; at < bytes.size(); at += train.packet_bytes) {
    std::string packet = bytes.substr(at, train.packet_bytes);
    ++counters_.tx_packets;
    if (tamper && !tamper(packet)) continue;
    peer_->inbox_.push_back({std::move(packet), local_, *train.to, train.source_port, train.tos});
  }
}

std::size_t MemoryPort::rx(std::span<port::RxPacket> out) {
  taken_.clear();
  while (taken_.size() < out.size() && !inbox_.empty()) {
    taken_.push_back(std::move(inbox_.front()));
    inbox_.pop_front();
  }
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Packet& p = taken_[i];
    out[i] = {reinterpret_cast<const std::byte*>(p.bytes.data()),
              static_cast<std::uint32_t>(p.bytes.size()),
              0,
              &p.from,
              &p.to,
              p.source_port,
              p.tos};
  }
  counters_.rx_packets += taken_.size();
  return taken_.size();
}

std::optional<port::Link> MemoryPort::poll_link_event() {
  if (told_) return std::nullopt;
  told_ = true;
  return link();
}

port::Capabilities MemoryPort::capabilities() const {
  port::Capabilities c;
  c.max_train = max_train_;
  c.max_train_bytes = 65000;
  c.max_pieces = 256;
  c.max_burst = 64;
  return c;
}

Station::Station(int number, const nic::testing::HostOptions& options, std::vector<port::Port*> ports,
                 const DriverSettings& settings)
    : host(number, options), driver(host.nic, ports, settings) {
  host.gid.bytes = ports.front()->local().ip;
}

nic::testing::Pair::Qps connect(Station& a, Station& b, Time now, const nic::QpConnect& like) {
  const auto create = [](Station& s) -> nic::Qp& {
    nic::QpCreate made;
    made.pd = nic::PdId(1);
    made.send_cq = made.recv_cq = &s.host.cq;
    nic::Qp& qp = *s.host.nic.create_qp(made);
    s.host.nic.init(qp);
    return qp;
  };
  nic::Qp& qa = create(a);
  nic::Qp& qb = create(b);
  const auto raise = [&](Station& s, nic::Qp& qp, const Station& peer, Qpn remote) {
    nic::QpConnect c = like;
    c.peer = peer.host.gid;
    c.remote = remote;
    s.host.nic.connect(now, qp, c);
    s.host.nic.start(now, qp, {});
  };
  raise(a, qa, b, qb.qpn);
  raise(b, qb, a, qa.qpn);
  return {qa, qb};
}

int write(Station& a, Station& b, Time now, nic::Qp& qp, std::size_t from, std::size_t to,
          std::uint32_t length, std::uint64_t wr_id) {
  const nic::Sge sge = a.host.local(from, length);
  const nic::SendRequest request{
      {.wr_id = wr_id, .remote_va = b.host.va(to), .rkey = b.host.key, .length = length}, std::span(&sge, 1)};
  return a.host.nic.post_send(now, qp, request);
}

}  // namespace mrc::datapath::testing
