#include "collective/mesh.h"

#include <arpa/inet.h>
#include <openmrc/planes.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace mrc::collective {
namespace {

constexpr std::uint32_t kBarrierTag = Mesh::kTags - 1;
// A peer says goodbye when it has posted its last word, which may have to be repaired on its way.
constexpr auto kLastWords = std::chrono::milliseconds(500);

using Clock = std::chrono::steady_clock;

Error no(const char* what) { return {errno, std::string("no ") + what + ": " + std::strerror(errno)}; }

}  // namespace

Result<std::unique_ptr<Mesh>> Mesh::join(const MeshOptions& options) {
  std::unique_ptr<Mesh> mesh(new Mesh(options));
  if (auto opened = mesh->open(); !opened) return opened.error();
  if (auto met = mesh->meet_all(); !met) return met.error();
  return mesh;
}

Mesh::~Mesh() {
  for (Peer& p : peers_) {
    if (p.connection != nullptr) ::openmrc_say_goodbye(p.connection);
  }
  for (Peer& p : peers_) {
    if (p.connection != nullptr)
      ::openmrc_close(p.connection, 2'000);  // a peer may still miss an ACK of ours
    if (p.qp != nullptr) ::mrc_destroy_qp(p.qp);
  }
  if (cq_ != nullptr) ::mrc_destroy_cq(cq_);
  if (mr_ != nullptr) ::ibv_dereg_mr(mr_);
  if (memory_ != nullptr) ::munmap(memory_, options_.bytes);
  if (pd_ != nullptr) ::ibv_dealloc_pd(pd_);
  if (context_ != nullptr) ::mrc_destroy_context(context_);
  if (verbs_ != nullptr) ::ibv_close_device(verbs_);
}

Status Mesh::open() {
  if (!options_.device.empty()) ::setenv("MRC_DEVICES", options_.device.c_str(), 1);
  int count = 0;
  ibv_device** list = ::ibv_get_device_list(&count);
  if (list != nullptr && count > 0) verbs_ = ::ibv_open_device(list[0]);
  if (list != nullptr) ::ibv_free_device_list(list);
  if (verbs_ == nullptr) {
    const std::string why = ::openmrc_error();
    return Error{ENODEV, why.empty() ? "no MRC device: name its interfaces with --device, such as eth0,eth1"
                                     : "no MRC device: " + why};
  }
  context_ = ::mrc_create_context(verbs_, nullptr);
  pd_ = ::ibv_alloc_pd(verbs_);
  if (context_ == nullptr || pd_ == nullptr) return no("context");
  void* memory = ::mmap(nullptr, options_.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return no("memory");
  memory_ = static_cast<std::byte*>(memory);
  // On demand: no operation uses all of it, and what one does use it fills before time is taken.
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND;
  mr_ = ::ibv_reg_mr(pd_, memory_, options_.bytes, kAccess);
  if (mr_ == nullptr) return no("memory region");
  cq_ = ::mrc_create_cq(context_, static_cast<int>(ranks() * (kSends + kReceives)), nullptr, nullptr, 0);
  return cq_ == nullptr ? Status(no("completion queue")) : Status(Done{});
}

Result<int> Mesh::poll() {
  std::array<ibv_wc, 16> done;
  const int n = ::mrc_poll_cq(cq_, static_cast<int>(done.size()), done.data());
  if (n < 0) return Error{EIO, "the completion queue has overrun"};
  for (int i = 0; i < n; ++i) {
    const ibv_wc& wc = done[static_cast<std::size_t>(i)];
    const auto number = static_cast<std::uint32_t>(wc.wr_id & 0xFFFF'FFFF);
    const std::uint32_t rank = (wc.wr_id & kReceiveId) != 0 ? rank_at_[number] : number;
    if (wc.status != IBV_WC_SUCCESS) {
      return Error{EIO, "lost " + name_of(rank) + ": " + ::ibv_wc_status_str(wc.status) +
                            "; planes: " + planes_to(rank)};
    }
    Peer& peer = peers_[rank];
    if ((wc.wr_id & kReceiveId) == 0) {
      --peer.in_flight;
      continue;
    }
    ++peer.arrived[ntohl(wc.imm_data) % kTags];
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = wc.wr_id;
    if (const int refused = ::mrc_post_recv(peer.qp, &wr, &bad); refused != 0)
      return Error{refused, "can't post a receive"};
  }
  return n;
}

std::string Mesh::name_of(std::uint32_t rank) const {
  return "rank " + std::to_string(rank) + " at " + options_.addresses[rank];
}

std::string Mesh::planes_to(std::uint32_t rank) const {
  std::array<char, 2048> text{};
  return ::openmrc_describe_planes(peers_[rank].qp, text.data(), text.size()) > 0 ? text.data() : "unknown";
}

std::uint32_t Mesh::look_at_planes() {
  std::uint32_t lame = 0;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    if (r == rank()) continue;
    std::array<openmrc_plane, 32> planes;
    const int n = ::openmrc_query_planes(peers_[r].qp, planes.data(), planes.size());
    std::uint32_t bad = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::clamp(n, 0, 32)); ++i) {
      const openmrc_plane& p = planes[i];
      if (p.link_up == 0 || p.usable == 0 || p.evs_good == 0) bad |= 1u << i;
    }
    peers_[r].looks.note(bad);
    peers_[r].planes = planes_to(r);
    lame += peers_[r].looks.any_dead();
  }
  return lame;
}

std::vector<Mesh::LamePeer> Mesh::lame() const {
  std::vector<LamePeer> found;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    if (peers_[r].looks.any_dead()) found.push_back({r, name_of(r), peers_[r].planes});
  }
  return found;
}

bool Mesh::has_gone(std::uint32_t rank) const {
  if (peers_[rank].connection == nullptr) return false;
  pollfd fd{::openmrc_connection_fd(peers_[rank].connection), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

template <class Ready>
Status Mesh::poll_until(Ready&& ready, const char* what, std::uint32_t peer) {
  constexpr int kPollsPerLook = 4096;
  const auto patience = std::chrono::milliseconds(options_.timeout_ms);
  auto deadline = Clock::now() + patience;
  bool gone = false, asked = false;
  for (int polls = 0; !ready(); ++polls) {
    const auto came = poll();
    if (!came) return came.error();
    if (*came == 0) std::this_thread::yield();  // there may be more ranks than cores
    if (polls % kPollsPerLook != 0) continue;
    const auto now = Clock::now();
    if (!asked && now > deadline - patience * 3 / 4) {
      asked = true;
      if (auto posted = ask(peer); !posted) return posted;
    }
    if (!gone && has_gone(peer)) gone = true, deadline = std::min(deadline, now + kLastWords);
    if (now <= deadline) continue;
    if (gone) return Error{ECONNRESET, name_of(peer) + " closed the connection or died"};
    return Error{ETIMEDOUT, std::string(what) + " " + name_of(peer) + " for " +
                                std::to_string(options_.timeout_ms / 1000) +
                                " s; planes: " + planes_to(peer)};
  }
  return Done{};
}

/// A write of nothing, where no other is under way. Who only waits learns nothing of the planes; this finds
/// those that carry nothing.
Status Mesh::ask(std::uint32_t rank) {
  if (peers_[rank].in_flight > 0) return Done{};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = rank;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (const int error = ::mrc_post_send(peers_[rank].qp, &wr, &bad); error != 0)
    return Error{error, "can't post a write"};
  ++peers_[rank].in_flight;
  return Done{};
}

Status Mesh::write(std::uint32_t to_rank, std::size_t from, std::size_t to, std::size_t bytes,
                   std::uint32_t tag) {
  Peer& peer = peers_[to_rank];
  if (auto room = poll_until([&] { return peer.in_flight < kSends; }, "nothing moves to", to_rank); !room)
    return room;
  ibv_sge sge{reinterpret_cast<std::uint64_t>(memory_ + from), static_cast<std::uint32_t>(bytes), mr_->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = to_rank;
  wr.sg_list = &sge;
  wr.num_sge = bytes > 0 ? 1 : 0;
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = htonl(tag);
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = peer.va + to;
  wr.wr.rdma.rkey = peer.rkey;
  if (const int error = ::mrc_post_send(peer.qp, &wr, &bad); error != 0)
    return Error{error, "can't post a write"};
  ++peer.in_flight;
  return Done{};
}

Status Mesh::wait(std::uint32_t from, std::uint32_t tag) {
  std::uint8_t& count = peers_[from].arrived[tag];
  if (auto came = poll_until([&] { return count > 0; }, "nothing comes from", from); !came) return came;
  --count;
  return Done{};
}

Status Mesh::barrier() {
  for (std::uint32_t r = 1; rank() == 0 && r < ranks(); ++r) {
    if (auto here = wait(r, kBarrierTag); !here) return here;
  }
  for (std::uint32_t r = 1; rank() == 0 && r < ranks(); ++r) {
    if (auto told = write(r, 0, 0, 0, kBarrierTag); !told) return told;
  }
  if (rank() == 0) return Done{};
  if (auto told = write(0, 0, 0, 0, kBarrierTag); !told) return told;
  return wait(0, kBarrierTag);
}

Status Mesh::settle() {
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    const auto all = poll_until([&] { return peers_[r].in_flight == 0; }, "no answer from", r);
    if (!all) return all;
  }
  return Done{};
}

}  // namespace mrc::collective
