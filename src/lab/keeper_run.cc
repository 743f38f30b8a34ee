// The keeper's loop: clients, signals, flaps.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>

#include "lab/keeper.h"

namespace mrc::lab {
namespace {

constexpr std::size_t kMaxClients = 32;

Fd watch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, s);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// The keeper is the first process of its PID namespace, so orphans become its children. True: time to end.
bool take_signals(int fd) {
  bool end = false;
  for (signalfd_siginfo info; ::read(fd, &info, sizeof info) == sizeof info;)
    end |= info.ssi_signo != static_cast<unsigned>(SIGCHLD);
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  return end;
}

}  // namespace

bool Keeper::serve(int client) {
  Words words;
  if (!receive_words(client, words)) return false;
  std::vector<int> descriptors;
  const Answer answer = obey(words, descriptors);
  return bool(send_answer(client, answer, descriptors));
}

void Keeper::step_flaps(Clock::time_point now) {
  for (Flap& f : flaps_) {
    if (now < f.due) continue;
    f.is_down = !f.is_down;
    (void)(f.is_down ? faults_.fail(f.target, f.how) : faults_.heal(f.target));
    if (!f.is_down) --f.times_left;
    f.due = now + (f.is_down ? f.down : f.up);
  }
  std::erase_if(flaps_, [](const Flap& f) { return f.times_left == 0; });
}

int Keeper::patience(Clock::time_point now) const {
  int ms = -1;
  for (const Flap& f : flaps_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(f.due - now).count();
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
    ms = ms < 0 ? wait : std::min(ms, wait);
  }
  return ms;
}

void Keeper::run(int listener, int owner) {
  const Fd signals = watch_signals();
  user_space_ = Fd(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  pid_space_ = Fd(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  while (!ending_) {
    std::vector<pollfd> polls = {{signals.get(), POLLIN, 0}, {owner, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const Fd& client : clients_) polls.push_back({client.get(), POLLIN, 0});
    ::poll(polls.data(), polls.size(), patience(Clock::now()));
    if (polls[0].revents != 0 && take_signals(signals.get())) break;
    if (polls[1].revents != 0 && !serve(owner)) break;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (polls[3 + i].revents != 0 && !serve(clients_[i].get())) clients_[i].reset();
    }
    std::erase_if(clients_, [](const Fd& client) { return !client; });
    if (polls[2].revents != 0 && clients_.size() < kMaxClients) {
      if (Fd client = accept_client(listener)) clients_.push_back(std::move(client));
    }
    step_flaps(Clock::now());
  }
}

}  // namespace mrc::lab
