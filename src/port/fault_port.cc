#include "port/fault_port.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>

namespace mrc::port {
namespace {

constexpr std::size_t kBurst = 64;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<FaultPort>> FaultPort::open(std::unique_ptr<Port> inner, const FaultPlan& plan) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll || !timer) return errno_error("open a timer");
  for (const int fd : {inner->wait_fd(), timer.get()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) < 0) return errno_error("watch a port");
  }
  return std::unique_ptr<FaultPort>(
      new FaultPort(std::move(inner), plan, std::move(epoll), std::move(timer)));
}

FaultPort::FaultPort(std::unique_ptr<Port> inner, const FaultPlan& plan, Fd epoll, Fd timer)
    : WrappedPort(std::move(inner)),
      plan_(plan),
      random_(plan.seed),
      epoll_(std::move(epoll)),
      timer_(std::move(timer)),
      held_(plan.slots) {
  for (std::vector<Held*>* list : {&free_, &waiting_, &shown_}) list->reserve(plan.slots);
  for (Held& held : held_) free_.push_back(&held);
}

void FaultPort::change(const FaultPlan& plan) {
  const auto seed = plan_.seed;
  const auto slots = plan_.slots;
  plan_ = plan;
  plan_.seed = seed;
  plan_.slots = slots;
}

std::size_t FaultPort::rx(std::span<RxPacket> out) {
  free_.insert(free_.end(), shown_.begin(), shown_.end());
  shown_.clear();
  const std::int64_t now = now_ns();
  RxPacket fresh[kBurst];
  // Everything is copied: what one packet suffers must not depend on the memory of another.
  while (waiting_.size() < held_.size() / 2) {
    const std::size_t got = WrappedPort::rx(fresh);
    for (std::size_t i = 0; i < got; ++i) suffer(fresh[i], now);
    if (got == 0) break;
  }
  const std::size_t n = release(out, now);
  arm();
  return n;
}

/// Always the same number of draws per packet, so that one plan's change doesn't move the faults of the
/// others.
void FaultPort::suffer(const RxPacket& packet, std::int64_t now) {
  const bool lose = random_.chance(plan_.loss);
  const bool twice = random_.chance(plan_.duplicate);
  const bool flip = random_.chance(plan_.corrupt);
  const bool late = random_.chance(plan_.delay);
  const std::uint64_t by = random_.between(static_cast<std::uint64_t>(plan_.delay_least.count()),
                                           static_cast<std::uint64_t>(plan_.delay_most.count()));
  const std::uint32_t bit = random_.below(packet.size == 0 ? 1 : packet.size * 8);
  if (lose) {
    ++counts_.lost;
    return;
  }
  Held* held = keep(packet, late ? now + static_cast<std::int64_t>(by) : now);
  if (held == nullptr) return;
  counts_.delayed += late ? 1 : 0;
  if (flip && !held->bytes.empty()) {
    held->bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ++counts_.corrupted;
  }
  if (twice && keep(packet, now) != nullptr) ++counts_.duplicated;
}

FaultPort::Held* FaultPort::keep(const RxPacket& packet, std::int64_t due) {
  if (free_.empty()) {
    ++counts_.lost;
    return nullptr;
  }
  Held* held = free_.back();
  free_.pop_back();
  held->due = due;
  held->order = arrivals_++;
  held->bytes.assign(packet.data, packet.data + packet.size);
  if (packet.from != nullptr) held->from = *packet.from;
  if (packet.to != nullptr) held->to = *packet.to;
  held->packet = packet;
  held->packet.data = held->bytes.data();
  held->packet.from = packet.from != nullptr ? &held->from : nullptr;
  held->packet.to = packet.to != nullptr ? &held->to : nullptr;
  waiting_.push_back(held);
  std::push_heap(waiting_.begin(), waiting_.end(), later);
  return held;
}

std::size_t FaultPort::release(std::span<RxPacket> out, std::int64_t now) {
  while (shown_.size() < out.size() && !waiting_.empty() && waiting_.front()->due <= now) {
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    Held* held = waiting_.back();
    waiting_.pop_back();
    out[shown_.size()] = held->packet;
    shown_.push_back(held);
  }
  return shown_.size();
}

/// The timer rings for the earliest packet that still waits.
void FaultPort::arm() {
  itimerspec when{};
  if (!waiting_.empty()) {
    when.it_value.tv_sec = waiting_.front()->due / 1'000'000'000;
    when.it_value.tv_nsec = std::max<long>(waiting_.front()->due % 1'000'000'000, 1);
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace mrc::port
