#include "node/process_metrics.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "node/metrics.h"

namespace mrc::node {
namespace {

constexpr std::size_t kMostQps = 4096;  // in one answer: more are left out, their process's totals have them
constexpr int kDeadlinesEvery = 1000;   // ms: the server looks for peers that have fallen silent

/// The application's signals are the application's threads' to take.
std::thread start_quietly(auto body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

ProcessMetrics::ProcessMetrics() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  page_.add("/metrics", [this](TextForm form) { return process_metrics(facts(false), form); });
  page_.add("/metrics/qps", [this](TextForm form) { return qp_metrics(facts(true), form); });
}

Result<std::shared_ptr<ProcessMetrics>> ProcessMetrics::start(const std::string& where) {
  std::shared_ptr<ProcessMetrics> made(new ProcessMetrics);
  auto server = made->page_.listen(where);
  if (!server) return server.error();
  made->server_ = std::move(*server);
  made->thread_ = start_quietly([&metrics = *made] { metrics.run(); });
  return made;
}

ProcessMetrics::~ProcessMetrics() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void ProcessMetrics::run() {
  ::pthread_setname_np(::pthread_self(), "mrc-metrics");
  for (;;) {
    pollfd ready[2] = {{server_->fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    ::poll(ready, 2, kDeadlinesEvery);
    if (ready[1].revents != 0) return;
    const std::lock_guard lock(mutex_);
    server_->turn(std::chrono::milliseconds(0));
  }
}

void ProcessMetrics::add(const Member& member) {
  const std::lock_guard lock(mutex_);
  members_.insert(&member);
}

void ProcessMetrics::remove(const Member& member) {
  const std::lock_guard lock(mutex_);
  members_.erase(&member);
}

std::vector<ProcessFacts> ProcessMetrics::facts(bool with_qps) const {
  std::vector<ProcessFacts> all;
  std::size_t room = kMostQps;
  for (const Member* member : members_) {
    ProcessFacts& one = all.emplace_back(member->process_facts());
    if (!with_qps) continue;
    std::vector<Qpn> qpns = member->qpns();
    qpns.resize(std::min(qpns.size(), room));
    room -= qpns.size();
    // Few at a time: the device is held while they are read.
    constexpr std::size_t kAtATime = 32;
    for (std::size_t i = 0; i < qpns.size(); i += kAtATime) {
      const auto some = std::span(qpns).subspan(i, std::min(kAtATime, qpns.size() - i));
      for (QpFacts& qp : member->qp_facts(some, false)) one.qps.push_back(std::move(qp));
    }
  }
  return all;
}

void ProcessMetrics::after_fork_in_child() {
  server_.reset();
  stop_.reset();
  mutex_.unlock();
}

}  // namespace mrc::node
