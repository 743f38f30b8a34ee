#include "nic/testing.h"

#include <algorithm>

namespace mrc::nic::testing {

PathTable make_paths(int ports, int evs) {
  std::vector<engine::Path> paths;
  for (int ev = 0; ev < evs; ++ev) {
    for (int p = 1; p <= ports; ++p) {
      paths.push_back(
          {Ev(static_cast<std::uint32_t>(0xC000 + p * 256 + ev)), PortId(static_cast<std::uint8_t>(p))});
    }
  }
  return std::make_shared<const std::vector<engine::Path>>(std::move(paths));
}

Gid address_of(int host) { return Gid::v4(10, 0, 0, static_cast<std::uint8_t>(host)); }

namespace {

NicConfig config_of(Host& host, int number, const HostOptions& options) {
  host.windows.bytes = options.window;
  NicConfig config;
  config.limits = options.limits;
  config.ports = PortMask::first(options.ports);
  config.scheduler = options.scheduler;
  config.probes = options.probes;
  config.paths = make_paths(options.ports, options.evs);
  config.congestion = &host.windows;
  config.observer = &host.diary;
  config.key_secret = {static_cast<std::uint64_t>(number), 0x5EED};
  config.seed = static_cast<std::uint64_t>(number);
  return config;
}

}  // namespace

Host::Host(int number, const HostOptions& options)
    : gid(address_of(number)), memory(1 << 20), nic(config_of(*this, number, options)) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] =
        std::byte(static_cast<unsigned char>((i * 7 + i / 4096 + static_cast<std::size_t>(number)) & 0xFF));
  }
  key = register_memory();
}

RKey Host::register_memory(bool remote_write, PdId pd) {
  return *nic.regions().add({va(0), memory.size(), memory.data(), pd, remote_write});
}

Sge Host::local(std::size_t offset, std::uint32_t length) const { return {va(offset), length, key}; }

std::vector<Cqe> Host::poll() {
  std::vector<Cqe> out(cq.capacity());
  out.resize(cq.poll(out));
  return out;
}

Pair::Qps Pair::connect(const QpConnect& like, const QpSend& send, QpCreate made) {
  const auto create = [&](Host& host) -> Qp& {
    made.pd = PdId(1);
    if (made.send_cq == nullptr || &host == &b) made.send_cq = made.recv_cq = &host.cq;
    return *host.nic.create_qp(made);
  };
  Qp& qa = create(a);
  Qp& qb = create(b);
  const auto raise = [&](Host& host, Qp& qp, const Host& peer, Qpn remote) {
    QpConnect c = like;
    c.peer = peer.gid;
    c.remote = remote;
    host.nic.init(qp);
    host.nic.connect(now, qp, c);
    host.nic.start(now, qp, send);
  };
  raise(a, qa, b, qb.qpn);
  raise(b, qb, a, qa.qpn);
  return {qa, qb};
}

int Pair::write(Qp& qp, std::size_t from, std::size_t to, std::uint32_t length, std::uint64_t wr_id,
                std::optional<std::uint32_t> imm) {
  SendRequest request;
  request.work = {.wr_id = wr_id,
                  .remote_va = b.va(to),
                  .rkey = b.key,
                  .length = length,
                  .imm = imm.value_or(0),
                  .has_imm = imm.has_value()};
  const Sge sge = a.local(from, length);
  request.sges = std::span(&sge, 1);
  return a.nic.post_send(now, qp, request);
}

void Pair::drain(Host& from, Host& to) {
  Departure out;
  while (from.nic.poll_transmit(now, PortMask(~0u), out)) {
    if (filter && !filter(from, out)) continue;
    Flying packet{now + delay, &to, from.gid, out.transmit.packet, out.transmit.envelope, {}};
    for (std::size_t i = 0; i < out.payload.count; ++i) {
      const Piece& piece = out.payload.pieces[i];
      packet.payload.insert(packet.payload.end(), piece.begin(), piece.end());
    }
    flying_.push_back(std::move(packet));
  }
}

Time Pair::next_event() const {
  const Time arrival = flying_.empty() ? kNever : flying_.front().arrival;
  return std::min({arrival, a.nic.next_timeout(), b.nic.next_timeout()});
}

bool Pair::run(Duration most, Duration quiet) {
  const Time end = now + most;
  while (true) {
    drain(a, b);
    drain(b, a);
    const Time next = next_event();
    if (flying_.empty() && (next == kNever || next > now + quiet)) return true;
    if (next > end) {
      now = end;
      return false;
    }
    now = std::max(now, next);
    while (!flying_.empty() && flying_.front().arrival <= now) {
      Flying packet = std::move(flying_.front());
      flying_.pop_front();
      ++delivered;
      packet.to->nic.handle(now, packet.packet, packet.envelope, packet.source, packet.payload);
    }
    a.nic.handle_timeout(now);
    b.nic.handle_timeout(now);
  }
}

}  // namespace mrc::nic::testing
