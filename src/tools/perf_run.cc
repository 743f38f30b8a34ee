// The measurements, one end each; ping-pong, and rounds in which every byte is compared.
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "collective/core_wait.h"
#include "lib/progress.h"
#include "tools/interruption.h"
#include "tools/perf_flood.h"

namespace mrc::tools {
namespace {

using lib::steady_now;

double cpu_seconds() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  const auto s = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return s(u.ru_utime) + s(u.ru_stime);
}
struct SocketName {
  sockaddr_storage at{};
  socklen_t size = sizeof at;

  sockaddr* any() { return reinterpret_cast<sockaddr*>(&at); }
  Result<std::string> address() {
    char text[NI_MAXHOST];
    const int error = ::getnameinfo(any(), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    return error == 0 ? Result<std::string>(text) : Error{EHOSTUNREACH, ::gai_strerror(error)};
  }
};

Result<SocketName> look_up(const std::string& host, const std::string& service) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (const int error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0) {
    return Error{EHOSTUNREACH, host + ": " + ::gai_strerror(error)};
  }
  SocketName name;
  name.size = found->ai_addrlen;
  std::memcpy(&name.at, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return name;
}

/// The address by which this host reaches another: where the device must be.
Result<std::string> address_toward(const std::string& host, const std::string& service) {
  auto there = look_up(host, service);
  if (!there) return there.error();
  const int fd = ::socket(there->at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  SocketName here;
  const bool ok =
      ::connect(fd, there->any(), there->size) == 0 && ::getsockname(fd, here.any(), &here.size) == 0;
  ::close(fd);
  return ok ? here.address() : Error{ENETUNREACH, "no route to " + host};
}

/// Of this host, whatever it is called.
Result<std::string> address_of(const std::string& host, const std::string& service) {
  auto name = look_up(host, service);
  if (!name) return name.error();
  return name->address();
}

/// Waits for the peer's number in our slot. A write's last byte is placed when the whole packet is.
bool await_number(PerfSide& side, std::uint8_t number, Time deadline) {
  std::array<ibv_wc, 4> wcs;
  volatile std::uint8_t* last = side.slot(0, 0) + std::max<std::uint64_t>(side.options().size, 1) - 1;
  bool received = !side.options().imm;  // and posted again, before the peer needs it
  for (std::uint32_t spins = 0; *last != number || !received; ++spins) {
    const int n = side.poll(wcs);
    for (int i = 0; i < n; ++i) {
      if (wcs[static_cast<std::size_t>(i)].opcode != IBV_WC_RECV_RDMA_WITH_IMM) continue;
      side.post_receives(0, 1);
      received = true;
    }
    if ((spins & 4095) == 4095 && (steady_now() > deadline || side.peer_waits())) return false;
  }
  return true;
}

/// The answers to earlier writes may come after the peer's number: then a short queue has no room yet. The
/// peer is silent meanwhile, so nothing but their completions can be polled.
Status post_number(PerfSide& side) {
  std::array<ibv_wc, 4> wcs;
  const Time deadline = time_after(10);
  for (;;) {
    const int error = side.post(0, 1 % side.options().depth, 0, true);
    if (error == 0) return Done{};
    if (error != ENOMEM || steady_now() > deadline) return Error{error, "post failed"};
    side.poll(wcs);
  }
}

Status ping(PerfSide& side, PerfResult& r) {
  const PerfOptions& o = side.options();
  const Time start = steady_now(), end = time_after(o.seconds);
  std::uint8_t* last = side.slot(0, 1 % o.depth) + o.size - 1;
  std::uint8_t number = 0;
  for (Time now = start; now < end && interruption() == 0; ++r.writes) {
    number = static_cast<std::uint8_t>(number % 200 + 1);
    *last = number;
    if (auto posted = post_number(side); !posted) return posted;
    if (!await_number(side, number, end + 10s)) return Error{ETIMEDOUT, "the peer's answer did not come"};
    const Time then = steady_now();
    r.half_rtts.push_back((then - now).count() / 2);
    now = then;
  }
  r.elapsed = in_seconds(steady_now() - start);
  r.bytes = r.writes * o.size;
  std::sort(r.half_rtts.begin(), r.half_rtts.end());
  return Done{};
}

Status pong(PerfSide& side) {
  const PerfOptions& o = side.options();
  std::uint8_t* last = side.slot(0, 1 % o.depth) + o.size - 1;
  for (std::uint8_t number = 1;; number = static_cast<std::uint8_t>(number % 200 + 1)) {
    if (!await_number(side, number, kNever)) return Done{};  // the peer is done
    *last = number;
    if (auto posted = post_number(side); !posted) return posted;
  }
}

std::uint8_t pattern(std::uint64_t round, std::uint32_t q, std::uint32_t i, std::uint64_t at) {
  return static_cast<std::uint8_t>((at ^ at >> 8 ^ at >> 16) * 167 + round * 31 + q * 7 + i * 13);
}

void paint(PerfSide& side, std::uint64_t round) {
  const PerfOptions& o = side.options();
  for (std::uint32_t q = 0; q < o.qps; ++q) {
    for (std::uint32_t i = 0; i < o.depth; ++i) {
      std::uint8_t* slot = side.slot(q, i);
      for (std::uint64_t at = 0; at < o.size; ++at) slot[at] = pattern(round, q, i, at);
    }
  }
}

std::uint64_t wrong_bytes(PerfSide& side, std::uint64_t round) {
  const PerfOptions& o = side.options();
  std::uint64_t wrong = 0;
  for (std::uint32_t q = 0; q < o.qps; ++q) {
    for (std::uint32_t i = 0; i < o.depth; ++i) {
      const std::uint8_t* slot = side.slot(q, i);
      for (std::uint64_t at = 0; at < o.size; ++at) wrong += slot[at] != pattern(round, q, i, at);
    }
  }
  return wrong;
}

/// One write into every slot of every QP; returns when all have completed.
Status one_round(PerfSide& side) {
  const PerfOptions& o = side.options();
  for (std::uint32_t q = 0; q < o.qps; ++q) {
    for (std::uint32_t i = 0; i < o.depth; ++i) {
      if (const int error = side.post(q, i, i, true); error != 0) return Error{error, "post failed"};
    }
  }
  std::array<ibv_wc, 16> wcs;
  for (std::uint64_t left = std::uint64_t{o.qps} * o.depth; left > 0;) {
    const int n = side.poll(wcs);
    for (int i = 0; i < n; ++i, --left) {
      if (wcs[static_cast<std::size_t>(i)].status != IBV_WC_SUCCESS)
        return write_failed(wcs[static_cast<std::size_t>(i)]);
    }
  }
  return Done{};
}

/// Rounds: everything is painted, written, and compared by the peer. Only the writing counts as time.
Status verified_rounds(PerfSide& side, PerfResult& r) {
  const PerfOptions& o = side.options();
  const Time end = time_after(o.seconds);
  for (std::uint64_t round = 1;; ++round) {
    paint(side, round);
    const Time start = steady_now();
    if (auto done = one_round(side); !done) return done;
    r.elapsed += in_seconds(steady_now() - start);
    r.writes += std::uint64_t{o.qps} * o.depth;
    r.bytes = r.writes * o.size;
    const bool last = steady_now() >= end || interruption() != 0;
    const double more[] = {last ? -static_cast<double>(round) : static_cast<double>(round)};
    double answer[1] = {};
    if (auto told = side.exchange(more, answer); !told) return told;  // "look now"
    if (auto told = side.exchange(more, answer); !told) return told;  // how many were wrong
    if (answer[0] != 0) return Error{EBADMSG, std::to_string(answer[0]) + " bytes arrived wrong"};
    r.verified = r.bytes;
    if (more[0] < 0) return Done{};
  }
}

Status check_rounds(PerfSide& side) {
  double wrong = 0;
  while (true) {
    if (auto done = absorb(side); !done) return done;
    double round[1] = {};
    const double none[1] = {0};
    if (auto told = side.exchange(none, round); !told) return told;
    const auto number = static_cast<std::uint64_t>(round[0] < 0 ? -round[0] : round[0]);
    wrong += static_cast<double>(wrong_bytes(side, number));
    const double found[1] = {wrong};
    if (auto told = side.exchange(found, round); !told) return told;
    if (round[0] < 0) return Done{};
  }
}

Status post_first_receives(PerfSide& side) {
  const PerfOptions& o = side.options();
  for (std::uint32_t q = 0; o.imm && q < o.qps; ++q) {
    if (const int error = side.post_receives(q, o.depth); error != 0)
      return Error{error, "post of receives failed"};
  }
  return Done{};
}

}  // namespace

Status perf_serve(const PerfOptions& options) {
  const auto here = address_of(options.listen, options.service);
  if (!here) return here.error();
  auto side = PerfSide::open(options, *here);
  if (!side) return side.error();
  if (auto posted = post_first_receives(**side); !posted) return posted;
  openmrc_listener* listener = nullptr;
  if (openmrc_listen(here->c_str(), options.service.c_str(), &listener) != 0)
    return Error{EADDRINUSE, std::string(openmrc_error()) + " (--tcp-port names another, at both ends)"};
  if (options.says_it_listens >= 0 && ::write(options.says_it_listens, "", 1) != 1)
    return Error{errno, "can't say that it listens"};
  const Status accepted = (*side)->accept(listener);
  openmrc_destroy_listener(listener);
  if (!accepted) return accepted;
  const Time start = steady_now();
  const double cpu = cpu_seconds();
  const Status served = options.latency  ? pong(**side)
                        : options.verify ? check_rounds(**side)
                                         : absorb(**side);
  if (!served) return served;
  const lib::DeviceCounters c = (*side)->counters();
  const double ours[] = {(cpu_seconds() - cpu) / in_seconds(steady_now() - start) * 100,
                         static_cast<double>(c.received), static_cast<double>(c.duplicates),
                         static_cast<double>(c.refused), static_cast<double>(c.overrun)};
  double theirs[5] = {};
  if (auto told = (*side)->exchange(ours, theirs); !told) return told;
  (*side)->close();
  return Done{};
}

Result<PerfResult> perf_measure(const PerfOptions& options) {
  const auto here = address_toward(options.connect, options.service);
  if (!here) return here.error();
  auto side = PerfSide::open(options, *here);
  if (!side) return side.error();
  if (auto posted = post_first_receives(**side); !posted) return posted.error();
  if (auto connected = (*side)->connect(); !connected) return connected.error();
  PerfResult r;
  r.mtu = (*side)->mtu();
  r.depth = (*side)->options().depth;
  const Time start = steady_now();
  const double cpu = cpu_seconds();
  const collective::CoreWait cores;
  heed_interruption();
  const Status done = options.latency  ? ping(**side, r)
                      : options.verify ? verified_rounds(**side, r)
                                       : flood(**side, r);
  if (interruption() == 0) leave_interruption();
  if (!done) return done.error();
  r.cpu_percent = (cpu_seconds() - cpu) / in_seconds(steady_now() - start) * 100;
  r.was_late = cores.is_late();
  r.counters = (*side)->counters();
  r.lame_planes = (*side)->lame_planes();
  double theirs[5] = {};
  const double ours[5] = {};
  if (auto told = (*side)->exchange(ours, theirs); !told) return told.error();
  r.peer_cpu_percent = theirs[0];
  r.peer_counters.received = static_cast<std::uint64_t>(theirs[1]);
  r.peer_counters.duplicates = static_cast<std::uint64_t>(theirs[2]);
  r.peer_counters.refused = static_cast<std::uint64_t>(theirs[3]);
  r.peer_counters.overrun = static_cast<std::uint64_t>(theirs[4]);
  (*side)->close();
  return r;
}

}  // namespace mrc::tools
