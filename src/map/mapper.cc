#include "map/mapper.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "map/inbox.h"

namespace mrc::map {
namespace {

Result<port::Fd> open_raw() {
  port::Fd fd(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW));
  if (fd) return fd;
  if (errno == EPERM)
    return Error{EPERM, "the mapper sends packets with headers of its own: it needs CAP_NET_RAW"};
  return port::errno_error("open a raw socket");
}

}  // namespace

Result<std::unique_ptr<Mapper>> Mapper::open(const topo::Topology& topo, HostId host,
                                             const Settings& settings) {
  auto out = open_raw();
  if (!out) return out.error();
  auto answers = open_inbox(settings.udp_port);
  if (!answers) return answers.error();
  auto relays = open_inbox(static_cast<std::uint16_t>(settings.udp_port + 1));
  if (!relays) return relays.error();
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) return port::errno_error("get a random number");
  return std::unique_ptr<Mapper>(
      new Mapper(topo, host, settings, nonce, *std::move(out), *std::move(answers), *std::move(relays)));
}

Mapper::Mapper(const topo::Topology& topo, HostId host, const Settings& settings, std::uint64_t nonce,
               port::Fd out, port::Fd answers, port::Fd relays)
    : topo_(topo),
      settings_(settings),
      agent_(topo, host, settings),
      survey_(topo, settings),
      nonce_(nonce),
      out_(std::move(out)),
      answers_(std::move(answers)),
      relays_(std::move(relays)) {}

Time Mapper::now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(Duration(t.tv_sec * 1'000'000'000LL + t.tv_nsec));
}

void Mapper::send(const Itinerary& way, const ProbePacket& p) {
  const ProbeFrame frame = make_frame(topo_, way, p, settings_);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  std::copy(frame.first_carrier.bytes.begin(), frame.first_carrier.bytes.end(), to.sin6_addr.s6_addr);
  // A probe that can not leave (the port is down) is a lost probe: that is what is being measured.
  (void)::sendto(out_.get(), frame.bytes.data(), frame.size, 0, reinterpret_cast<const sockaddr*>(&to),
                 sizeof to);
}

// MRC-FAB-034: an answer counts only with our secret, from the address that its last leg comes from.
void Mapper::take_answer(const ProbePacket& p, const Ipv6& from, Time arrived) {
  const auto way = itinerary(topo_, agent_.host(), p.name);
  const bool ours = p.nonce == nonce_ && p.host == agent_.host() && way && p.leg + 1 == way->count;
  if (!ours || topo_.address(way->legs[p.leg].from, way->legs[p.leg].plane) != from)
    return agent_.counters().add(Count::refused);
  agent_.handle_reply(arrived, p.name, p.sequence);
}

void Mapper::take_answers() {
  drain(answers_.get(), [&](const Arrived& a) {
    const auto p = parse_probe(a.bytes);
    if (!p) return agent_.counters().add(Count::refused);
    take_answer(*p, a.from, Mapper::now() - a.ago);
  });
}

bool Mapper::may_relay(Time now) {
  const double rate = settings_.relays_per_second;
  const double passed = std::chrono::duration<double>(now - relay_time_).count();
  relay_tokens_ = std::min(rate / 10, relay_tokens_ + passed * rate);
  relay_time_ = now;
  if (relay_tokens_ < 1) return false;
  relay_tokens_ -= 1;
  return true;
}

// MRC-FAB-034: a probe of another node is passed on along its own way only, which is computed here from its
// name, from the address where it must come from, and not more often than a setting says.
bool Mapper::relay(const ProbePacket& p, const Ipv6& from, Time now) {
  const auto way = itinerary(topo_, p.host, p.name);
  if (!way || p.leg + 1 >= way->count || way->legs[p.leg].to != agent_.host()) return false;
  if (topo_.address(way->legs[p.leg].from, way->legs[p.leg].plane) != from || !may_relay(now)) return false;
  ProbePacket next = p;
  ++next.leg;
  send(*way, next);
  return true;
}

void Mapper::take_relays(Time now) {
  drain(relays_.get(), [&](const Arrived& a) {
    const auto p = parse_probe(a.bytes);
    agent_.counters().add(p && relay(*p, a.from, now) ? Count::relayed : Count::relay_refused);
  });
}

bool Mapper::turn(Time now) {
  take_relays(now);
  if (now < next()) return false;
  take_answers();
  agent_.advance(now);
  while (const auto probe = agent_.poll_probe(Mapper::now())) {
    if (const auto way = itinerary(topo_, agent_.host(), probe->name))
      send(*way, {agent_.host(), probe->name, 0, probe->sequence, nonce_});
  }
  survey_.observe(now, agent_.host(), agent_.observations());
  survey_.advance(now);
  return true;
}

}  // namespace mrc::map
