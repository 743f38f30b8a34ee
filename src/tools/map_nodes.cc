#include "tools/map_nodes.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lab/offspring.h"

namespace mrc::tools {
namespace {

constexpr std::size_t kMaxReport = 256 * 1024;
constexpr std::size_t kMaxProblem = 512;

int patience_ms(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - map::Mapper::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
}

Duration cpu_used() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto time = [](const timeval& t) {
    return Duration(t.tv_sec * 1'000'000'000LL + t.tv_usec * 1000LL);
  };
  return time(used.ru_utime) + time(used.ru_stime);
}

bool report(int channel, const map::Mapper& mapper) {
  const auto observations = mapper.agent().observations();
  const NodeReport head = node_report(mapper);
  std::vector<std::uint8_t> bytes(sizeof head + observations.size() * sizeof(map::Observation));
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!observations.empty())
    std::memcpy(bytes.data() + sizeof head, observations.data(), bytes.size() - sizeof head);
  return ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
}

/// The child's life: a mapper, until the other end of the channel closes.
int run_node(lab::Lab& lab, const topo::Topology& topo, map::HostId host, const map::Settings& settings,
             int channel) {
  const auto fail = [&](const Error& e) {
    const std::string text = topo.name(topo::host_node(host)) + ": " + e.what;
    (void)::send(channel, text.data(), std::min(text.size(), kMaxProblem), MSG_NOSIGNAL);
    return 1;
  };
  if (auto entered = lab.enter(topo.name(topo::host_node(host))); !entered) return fail(entered.error());
  auto mapper = map::Mapper::open(topo, host, settings);
  if (!mapper) return fail(mapper.error());
  (void)::send(channel, "", 1, MSG_NOSIGNAL);
  for (bool closed = false; !closed;) {
    if (run_mapper_once(**mapper, kNever, channel, &closed) && !report(channel, **mapper)) break;
  }
  return 0;
}

}  // namespace

NodeReport node_report(const map::Mapper& mapper) {
  return {mapper.agent().host(), cpu_used(), mapper.agent().counters(), mapper.agent().lost()};
}

bool run_mapper_once(map::Mapper& mapper, Time end, int channel, bool* closed) {
  pollfd polls[] = {{mapper.fd(), POLLIN, 0}, {channel, 0, 0}};
  ::poll(polls, channel < 0 ? 1 : 2, patience_ms(std::min(mapper.next(), end)));
  if ((polls[1].revents & (POLLHUP | POLLERR)) != 0 && closed != nullptr) return *closed = true, false;
  return mapper.turn(map::Mapper::now());
}

Status MapNodes::add(lab::Lab& lab, const topo::Topology& topo, map::HostId host,
                     const map::Settings& settings) {
  auto child = lab::fork_with_channel();
  if (!child) return child.error();
  if (child->pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    channels_.clear();  // the siblings' ends: they must see ours close
    ::_exit(run_node(lab, topo, host, settings, child->channel.get()));
  }
  channels_.push_back(std::move(child->channel));
  children_.push_back(child->pid);
  // One after the other: the children share our connection to the lab, and an answer must reach its asker.
  std::array<char, kMaxProblem> word{};
  const ssize_t n = ::recv(channels_.back().get(), word.data(), word.size(), 0);
  if (n != 1)
    return Error{EIO, n > 1 ? std::string(word.data(), static_cast<std::size_t>(n)) : "a mapper has ended"};
  reports_.push_back({.host = host, .cpu = {}, .counters = {}, .lost = 0});
  return Done{};
}

Result<MapNodes> MapNodes::start(lab::Lab& lab, const topo::Topology& topo, const map::Settings& settings) {
  MapNodes out;
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) {
    if (auto added = out.add(lab, topo, map::HostId(h), settings); !added) return added.error();
  }
  map::Survey nobody(topo, settings);
  const Time give_up = map::Mapper::now() + 10s;
  const auto silent = [](const NodeReport& r) { return r.counters[map::Count::answered] == 0; };
  while (out.problem_.empty() && std::any_of(out.reports_.begin(), out.reports_.end(), silent)) {
    if (map::Mapper::now() > give_up) break;  // a fabric may be so broken that a node hears nothing
    out.wait(give_up, nobody);
  }
  if (!out.problem_.empty()) return Error{EIO, out.problem_};
  return out;
}

MapNodes::~MapNodes() {
  channels_.clear();  // the children see it, and end
  for (const pid_t child : children_) {
    ::kill(child, SIGTERM);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
}

bool MapNodes::take(std::size_t node, map::Survey& survey) {
  static thread_local std::vector<std::uint8_t> bytes(kMaxReport);
  const ssize_t n = ::recv(channels_[node].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0) return false;
  NodeReport head;
  const auto size = static_cast<std::size_t>(n);
  if (size < sizeof head || (size - sizeof head) % sizeof(map::Observation) != 0) {
    problem_.assign(reinterpret_cast<const char*>(bytes.data()), size);
    if (problem_.empty()) problem_ = "a mapper has ended";
    return false;
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  std::vector<map::Observation> observations((size - sizeof head) / sizeof(map::Observation));
  if (!observations.empty()) std::memcpy(observations.data(), bytes.data() + sizeof head, size - sizeof head);
  survey.observe(map::Mapper::now(), head.host, observations);
  reports_[node] = head;
  return true;
}

void MapNodes::wait(Time deadline, map::Survey& survey) {
  std::vector<pollfd> polls;
  for (const auto& channel : channels_) polls.push_back({channel.get(), POLLIN, 0});
  if (::poll(polls.data(), polls.size(), patience_ms(deadline)) <= 0) return;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    while ((polls[i].revents & (POLLIN | POLLHUP)) != 0 && problem_.empty() && take(i, survey)) continue;
  }
}

}  // namespace mrc::tools
