#include "tools/lab_transfer.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace mrc::tools {
namespace {

using lab::Fd;
using Kind = TransferReport::Kind;

constexpr int kSilentTooLongMs = 60'000;
constexpr int kLastWordsMs = 2'000;

struct Ends {
  Fd ours, theirs;
};
Result<Ends> make_ends() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return port::errno_error("socketpair");
  return Ends{Fd(fds[0]), Fd(fds[1])};
}

void report(int fd, std::uint32_t transfer, Kind kind, const Result<BulkSample>& outcome) {
  TransferReport r;
  r.kind = outcome ? kind : Kind::failed;
  r.transfer = transfer;
  if (outcome) r.sample = *outcome;
  if (!outcome) std::snprintf(r.why, sizeof r.why, "%s", outcome.error().what.c_str());
  (void)::send(fd, &r, sizeof r, MSG_NOSIGNAL);
}

/// One end of a transfer: it goes onto its host, works, reports, and dies with its parent.
/// Returns when it stands there: all of them ask the lab over one socket, and must not hear each other's
/// answers.
template <class Work>
pid_t start_on(lab::Lab& lab, const std::string& host, Work work) {
  auto arrival = make_ends();
  if (!arrival) return -1;
  const pid_t child = ::fork();
  if (child != 0) {
    arrival->theirs.reset();
    char word;
    (void)!::read(arrival->ours.get(), &word, 1);  // or its end, when it died
    return child;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto entered = lab.enter(host);
  arrival->ours.reset();
  (void)!::write(arrival->theirs.get(), "", 1);
  work(entered ? std::nullopt : std::optional(entered.error()));
  ::_exit(0);
}

}  // namespace

Status LabTransfers::start_one(lab::Lab& lab, std::uint32_t number, const TransferEnds& ends,
                               const BulkSettings& settings) {
  auto channel = make_ends();
  if (!channel) return channel.error();
  const int to = report_to_.get();
  const pid_t receiver = start_on(lab, ends.to, [&](const std::optional<Error>& lost) {
    channel->ours.reset();
    orders_.reset();
    report(to, number, Kind::received, lost ? *lost : receive_bulk(channel->theirs.get(), settings));
  });
  const pid_t sender = start_on(lab, ends.from, [&](const std::optional<Error>& lost) {
    channel->theirs.reset();
    orders_.reset();
    const auto watch = [&](const BulkSample& s) {
      report(to, number, Kind::sample, s);
      char word;
      // Left in place for the others. 0: no more orders, so end.
      return ::recv(order_from_.get(), &word, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
    };
    report(to, number, Kind::sent, lost ? *lost : send_bulk(channel->ours.get(), settings, watch));
  });
  for (const pid_t child : {receiver, sender}) {
    if (child > 0) processes_.push_back(child);
  }
  return sender > 0 && receiver > 0 ? Status(Done{}) : port::errno_error("fork");
}

Result<LabTransfers> LabTransfers::start(lab::Lab& lab, const std::vector<TransferEnds>& ends,
                                         const BulkSettings& settings) {
  LabTransfers out;
  auto reports = make_ends(), orders = make_ends();
  if (!reports || !orders) return Error{EMFILE, "no more sockets"};
  out.reports_ = std::move(reports->ours);
  out.report_to_ = std::move(reports->theirs);
  out.orders_ = std::move(orders->ours);
  out.order_from_ = std::move(orders->theirs);
  for (std::uint32_t i = 0; i < ends.size(); ++i) {
    if (auto started = out.start_one(lab, i, ends[i], settings); !started) return started.error();
  }
  out.report_to_.reset();
  out.order_from_.reset();
  return out;
}

LabTransfers::~LabTransfers() {
  for (const pid_t child : processes_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

Result<TransferReport> LabTransfers::next() {
  TransferReport r;
  pollfd waiting{reports_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, kSilentTooLongMs) <= 0)
    return Error{ETIMEDOUT, "the transfer has been silent for a minute"};
  if (::recv(reports_.get(), &r, sizeof r, 0) != sizeof r)
    return Error{EPIPE, "the transfer's processes died"};
  if (r.kind == Kind::failed)
    return Error{EIO, std::string("the transfer: ") + r.why + hear_other_ends(r.transfer)};
  return r;
}

/// One end has failed: the other notices, and has its own account of what happened.
std::string LabTransfers::hear_other_ends(std::uint32_t transfer) {
  pollfd waiting{reports_.get(), POLLIN, 0};
  TransferReport r;
  while (::poll(&waiting, 1, kLastWordsMs) > 0 && ::recv(reports_.get(), &r, sizeof r, 0) == sizeof r) {
    if (r.transfer == transfer && r.kind == Kind::failed) return std::string("\nthe other end: ") + r.why;
  }
  return {};
}

void LabTransfers::finish() { ::shutdown(orders_.get(), SHUT_WR); }

}  // namespace mrc::tools
