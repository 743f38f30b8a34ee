// How the ranks of a mesh find each other.
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "collective/mesh.h"

namespace mrc::collective {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kMagic = 0x4C4F'434D;  // "MCOL"
constexpr int kGreetingMs = 2'000;             // a rank that has come speaks at once

/// What each rank tells each other one.
struct Card {
  std::uint32_t magic = kMagic;
  std::uint32_t rank = 0, ranks = 0, rkey = 0;
  std::uint64_t va = 0, bytes = 0, plan = 0;
};

/// Whoever this was has not come to run a collective.
bool is_stranger(int error) { return error == EPROTO || error == ECONNRESET || error == ETIMEDOUT; }

}  // namespace

// Receives are there before anybody can send: who connects is not known then, so they name the place in the
// order.
Status Mesh::make_qp(mrc_qp*& qp, std::uint32_t place) {
  const auto failed = [&](Error error) { return ::mrc_destroy_qp(qp), error; };
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.pd = pd_;
  init.cap = {kSends, kReceives, 1, 1, 0};
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  qp = ::mrc_create_qp(context_, &init);
  if (qp == nullptr) return Error{errno, std::string("no queue pair: ") + std::strerror(errno)};
  if (const int error = ::openmrc_prepare(&qp, 1, nullptr); error != 0)
    return failed({error, ::openmrc_error()});
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = kReceiveId | place;
  for (std::uint32_t i = 0; i < kReceives; ++i) {
    if (const int error = ::mrc_post_recv(qp, &wr, &bad); error != 0)
      return failed({error, "can't post receives"});
  }
  return Done{};
}

// Everybody connects to those before, in order, and then accepts those behind: the first rank waits for
// nobody.
Status Mesh::meet_all() {
  openmrc_listener* listener = nullptr;
  const std::string port = std::to_string(options_.tcp_port + rank());
  if (const int error = ::openmrc_listen(options_.addresses[rank()].c_str(), port.c_str(), &listener);
      error != 0) {
    const char* remedy = error == EADDRNOTAVAIL ? " (this host has no such address: is --rank right?)" : "";
    return Error{error, ::openmrc_error() + std::string(remedy)};
  }
  Status met = Done{};
  for (std::uint32_t r = 0; r < ranks() && met; ++r) {
    if (r != rank()) met = r < rank() ? call(r) : await(listener, r);
  }
  ::openmrc_destroy_listener(listener);
  return met;
}

Status Mesh::call(std::uint32_t peer) {
  const std::string port = std::to_string(options_.tcp_port + peer);
  return meet(peer, [&](mrc_qp** qp, const void* card, std::size_t size, openmrc_connection** out) {
    return ::openmrc_connect(options_.addresses[peer].c_str(), port.c_str(), verbs_, qp, 1, nullptr, card,
                             size, options_.timeout_ms, out);
  });
}

/// Anybody may knock at a port: who is no rank is let go, and the wait goes on.
Status Mesh::await(openmrc_listener* listener, std::uint32_t place) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(options_.timeout_ms);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd fd{::openmrc_listener_fd(listener), POLLIN, 0};
    if (left <= 0 || ::poll(&fd, 1, static_cast<int>(left)) <= 0) return Error{ETIMEDOUT, who_is_missing()};
    const auto met =
        meet(place, [&](mrc_qp** qp, const void* card, std::size_t size, openmrc_connection** out) {
          return ::openmrc_accept(listener, verbs_, qp, 1, nullptr, card, size, kGreetingMs, out);
        });
    if (met || !is_stranger(met.error().code)) return met;
  }
}

std::string Mesh::who_is_missing() const {
  std::string missing;
  for (std::uint32_t r = rank() + 1; r < ranks(); ++r) {
    if (peers_[r].qp == nullptr) missing += (missing.empty() ? "" : ", ") + name_of(r);
  }
  return "not here within " + std::to_string(options_.timeout_ms / 1000) + " s: " + missing;
}

template <class Connect>
Status Mesh::meet(std::uint32_t place, Connect&& connect) {
  mrc_qp* qp = nullptr;
  if (auto made = make_qp(qp, place); !made) return made;
  openmrc_connection* connection = nullptr;
  const Card ours{kMagic,         rank(),       ranks(), mr_->rkey, reinterpret_cast<std::uint64_t>(memory_),
                  options_.bytes, options_.plan};
  if (const int error = connect(&qp, &ours, sizeof ours, &connection); error != 0) {
    const std::string why = ::openmrc_error();
    return ::mrc_destroy_qp(qp), Error{error, name_of(place) + ": " + why};
  }
  Card theirs{};
  std::size_t size = 0;
  const void* data = ::openmrc_peer_data(connection, &size);
  if (size == sizeof theirs) std::memcpy(&theirs, data, size);
  const bool sane = theirs.magic == kMagic && theirs.ranks == ranks() && theirs.rank < ranks() &&
                    theirs.rank != rank() && theirs.bytes == options_.bytes && theirs.plan == options_.plan &&
                    peers_[theirs.rank].qp == nullptr;
  if (!sane) {
    ::openmrc_close(connection, 0);
    ::mrc_destroy_qp(qp);
    const std::string who = theirs.rank < ranks() ? name_of(theirs.rank) : "a peer";
    return Error{EINVAL, who +
                             " does something else: give all ranks the same --peers, --kinds, --sizes and "
                             "--port, and each its own --rank"};
  }
  peers_[theirs.rank] = {.qp = qp,
                         .connection = connection,
                         .va = theirs.va,
                         .rkey = theirs.rkey,
                         .arrived = std::vector<std::uint8_t>(kTags)};
  rank_at_[place] = theirs.rank;
  return Done{};
}

}  // namespace mrc::collective
