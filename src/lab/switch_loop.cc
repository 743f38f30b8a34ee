#include "lab/switch_loop.h"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "port/neighbours.h"
#include "port/packet_port.h"

namespace mrc::lab {
namespace {

constexpr Duration kLongestSleep{100'000'000};

std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

fabric::PsTime fabric_time(std::int64_t ns) { return fabric::PsTime(fabric::PsDuration(ns * 1000)); }

/// Nanoseconds until something may leave; rounded up, so that a wake-up finds it ready.
std::int64_t until_departure(const SoftSwitch& sw, std::int64_t now) {
  const fabric::PsTime next = sw.next_departure();
  if (next == fabric::PsTime::max()) return kLongestSleep.count();
  return std::clamp<std::int64_t>((next.time_since_epoch().count() + 999) / 1000 - now, 0,
                                  kLongestSleep.count());
}

class Loop {
 public:
  Loop(SoftSwitch& sw, SwitchControl* control, int stop_fd, const LoopSettings& settings)
      : sw_(sw), control_(control), stop_fd_(stop_fd), settings_(settings) {}

  void run() {
    const std::int64_t began = now_ns();
    std::int64_t now = began, last_moved = began, last_service = began;
    while (!settings_.run_for || now - began < settings_.run_for->count()) {
      if (sw_.turn(fabric_time(now))) last_moved = now;
      if (now - last_service >= settings_.service_period.count()) {
        if (!look_around(0)) return;
        last_service = now;
      } else if (now - last_moved >= settings_.spin.count()) {
        if (!look_around(until_departure(sw_, now))) return;
      }
      now = now_ns();
    }
  }

 private:
  /// Waits for ports, control and the end. False: the end.
  bool look_around(std::int64_t ns) {
    fds_.clear();
    if (stop_fd_ >= 0) fds_.push_back({stop_fd_, POLLIN, 0});
    for (const int fd : sw_.wait_fds()) fds_.push_back({fd, POLLIN, 0});
    if (control_ != nullptr) {
      for (const int fd : control_->fds()) fds_.push_back({fd, POLLIN, 0});
    }
    const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
    ppoll(fds_.data(), fds_.size(), &timeout, nullptr);
    sw_.service(fabric_time(now_ns()));
    if (control_ != nullptr) control_->serve(sw_);
    return stop_fd_ < 0 || (fds_[0].revents & POLLIN) == 0;
  }

  SoftSwitch& sw_;
  SwitchControl* control_;
  int stop_fd_;
  LoopSettings settings_;
  std::vector<pollfd> fds_;
};

}  // namespace

void run_switch(SoftSwitch& sw, SwitchControl* control, int stop_fd, const LoopSettings& settings) {
  prctl(PR_SET_TIMERSLACK, 1000);  // departures are timed to the microsecond
  Loop(sw, control, stop_fd, settings).run();
}

Result<SoftPort> open_soft_port(const std::string& interface, const fabric::LinkSettings& link,
                                const Neighbour& peer) {
  auto port = port::PacketPort::open({.interface = interface, .udp_port = 0});
  if (!port) return Error{port.error().code, interface + ": " + port.error().what};
  const auto mac = port::mac_of((*port)->link().interface);
  if (!mac) return mac.error();
  const std::string knob = "/proc/sys/net/ipv6/conf/" + interface + "/disable_ipv6";
  std::ofstream out(knob);
  out << 1;
  out.close();
  if (!out)
    return Error{
        EPERM,
        knob +
            " can not be written: the kernel would forward the same frames; run as root of this namespace"};
  return SoftPort{interface, std::move(*port), *mac, peer.mac, peer.link_local, link};
}

}  // namespace mrc::lab
