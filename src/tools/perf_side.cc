#include "tools/perf_side.h"

#include <openmrc/planes.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/progress.h"
#include "lib/soft_context.h"
#include "port/address.h"
#include "tools/perf_flood.h"
#include "tools/soft_device.h"
#include "tools/waiting_line.h"

namespace mrc::tools {
namespace {

constexpr int kTimeoutMs = 60'000;     // for what a peer says that has come
constexpr std::uint8_t kRevision = 1;  // of how two ends talk: 1 grants immediates

Error out_of(const char* what) { return {errno, std::string("no ") + what + ": " + std::strerror(errno)}; }
Error said() { return {EIO, openmrc_error()}; }

/// Anybody may knock at a port: who is no end of a measurement is let go, and the wait goes on.
bool is_stranger(int error) { return error == EPROTO || error == ECONNRESET; }

int remaining_ms(Time deadline) {
  if (deadline == kNever) return -1;
  return static_cast<int>(std::max<std::int64_t>((deadline - lib::steady_now()) / 1ms, 0));
}

void set_environment(const PerfOptions& options) {
  ::setenv("MRC_SPRAY_UNIT", std::to_string(options.spray_unit).c_str(), 1);
  ::setenv("MRC_ICRC", options.icrc ? "1" : "0", 1);
  if (!options.cc.empty()) ::setenv("MRC_CC", options.cc.c_str(), 1);
}

}  // namespace

PerfSide::PerfSide(const PerfOptions& options)
    : options_(options),
      depth_(options.depth),
      stride_((std::max<std::uint64_t>(options.size, 1) + 63) / 64 * 64) {
  // Compared bytes need a place for each write. Otherwise writes share memory that stays in the cache, as
  // those of other benchmarks do, or DRAM would be measured; ping and pong each have their own slot.
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  const auto wanted = [&] { return std::size_t{depth_} * options.qps; };
  while (options.verify && depth_ > 1 && wanted() * stride_ > kMostBytes) depth_ /= 2;
  options_.depth = depth_;  // whoever asks how deep must hear what the memory holds
  const std::size_t hot = std::max<std::size_t>(options.memory / stride_, options.latency ? 2 : 1);
  places_ = options.verify ? wanted() : std::min(wanted(), hot);
  bytes_ = places_ * stride_ + options.qps * sizeof(std::uint64_t);
}

Result<std::unique_ptr<PerfSide>> PerfSide::open(const PerfOptions& options, const std::string& address) {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 30;
  if (options.verify && options.size * options.qps > kMost) {
    return Error{
        ENOMEM, "comparing one write on each QP needs more than 4 GiB: take a smaller --size or fewer --qps"};
  }
  // Without a word about it, the node's device there: what controllers made for it is meant.
  std::string device = options.device;
  if (const auto ip = port::parse_address(address); ip && device.empty() && !std::getenv("MRC_DEVICES"))
    device = lib::devices_of_node(ip->ip).value_or("");
  if (auto chosen = choose_device(device, address); !chosen) return chosen.error();
  set_environment(options);
  std::unique_ptr<PerfSide> side(new PerfSide(options));
  if (auto made = side->make(); !made) return made.error();
  return side;
}

Status PerfSide::make() {
  auto opened = open_soft_device();
  if (!opened) return opened.error();
  verbs_ = *opened;
  gid_index_ = gid_index_of(verbs_);
  context_ = mrc_create_context(verbs_, nullptr);
  pd_ = ibv_alloc_pd(verbs_);
  if (context_ == nullptr || pd_ == nullptr) return out_of("context");
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return out_of("memory");
  memory_ = static_cast<std::uint8_t*>(memory);
  std::memset(memory_, 0x5A, bytes_);
  std::fill_n(grants(), options_.qps, depth_);  // both ends post so many receives before they meet
  mr_ = ibv_reg_mr(pd_, memory_, bytes_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (mr_ == nullptr) return out_of("memory region");
  cq_ = mrc_create_cq(context_,
                      static_cast<int>(std::min<std::uint64_t>(2ull * depth_ * options_.qps + 16, 1 << 20)),
                      nullptr, nullptr, 0);
  if (cq_ == nullptr) return out_of("completion queue");
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.pd = pd_;
  const std::uint32_t inline_bytes = options_.size <= 256 ? static_cast<std::uint32_t>(options_.size) : 0;
  const std::uint32_t grant_bytes = options_.imm ? sizeof(std::uint64_t) : 0;
  init.cap = {depth_, depth_, 1, 1, std::max(inline_bytes, grant_bytes)};
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  for (std::uint32_t i = 0; i < options_.qps; ++i) {
    mrc_qp* qp = mrc_create_qp(context_, &init);
    if (qp == nullptr) return out_of("queue pair");
    qps_.push_back(qp);
  }
  const openmrc_params p = params();
  if (openmrc_prepare(qps_.data(), static_cast<int>(qps_.size()), &p) != 0) return said();
  return Done{};
}

PerfSide::~PerfSide() {
  if (connection_ != nullptr) openmrc_close(connection_, 0);
  for (mrc_qp* qp : qps_) mrc_destroy_qp(qp);
  if (cq_ != nullptr) mrc_destroy_cq(cq_);
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  if (pd_ != nullptr) ibv_dealloc_pd(pd_);
  if (context_ != nullptr) mrc_destroy_context(context_);
  if (verbs_ != nullptr) ibv_close_device(verbs_);
}

openmrc_params PerfSide::params() const {
  openmrc_params p;
  openmrc_default_params(&p);
  p.ev_profile_id = options_.ev_profile;
  p.cc_profile_id = options_.cc_profile;
  p.gid_index = gid_index_;
  p.path_mtu = static_cast<ibv_mtu>(std::countr_zero(options_.mtu) - 7);
  return p;
}

PerfTerms PerfSide::terms() const {
  return {.va = reinterpret_cast<std::uint64_t>(memory_),
          .rkey = mr_->rkey,
          .qps = options_.qps,
          .depth = depth_,
          .size = options_.size,
          .places = places_,
          .latency = options_.latency,
          .imm = options_.imm,
          .verify = options_.verify,
          .revision = kRevision};
}

Status PerfSide::accept(openmrc_listener* listener) {
  const PerfTerms ours = terms();
  const Time deadline = options_.wait > 0 ? time_after(options_.wait) : kNever;
  const WaitingLine waiting("mrc perf: listening at " + options_.listen + " port " + options_.service +
                                " for the other end: mrc perf --connect " + options_.listen + " there",
                            !options_.quiet && !options_.local);
  const openmrc_params p = params();
  while (true) {
    const int error = openmrc_accept(listener, verbs_, qps_.data(), static_cast<int>(qps_.size()), &p, &ours,
                                     sizeof ours, remaining_ms(deadline), &connection_);
    if (error == 0) return check_peer();
    if (!is_stranger(error)) return said();
    std::fprintf(stderr, "mrc perf: turned a caller away: %s\n", openmrc_error());
  }
}

Status PerfSide::connect() {
  const PerfTerms ours = terms();
  const double wait = options_.wait > 0 ? options_.wait : kConnectWait;
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g", wait);
  const WaitingLine waiting("mrc perf: waiting up to " + std::string(limit) + " s (--wait) for " +
                                options_.connect + " port " + options_.service + ": mrc perf --listen " +
                                options_.connect + " there",
                            !options_.quiet && !options_.local);
  const openmrc_params p = params();
  if (openmrc_connect(options_.connect.c_str(), options_.service.c_str(), verbs_, qps_.data(),
                      static_cast<int>(qps_.size()), &p, &ours, sizeof ours, static_cast<int>(wait * 1000),
                      &connection_) != 0) {
    return said();
  }
  return check_peer();
}

Status PerfSide::check_peer() {
  std::size_t size = 0;
  const void* data = openmrc_peer_data(connection_, &size);
  if (size != sizeof peer_) return Error{EPROTO, "the peer is no `mrc perf`, or one of another version"};
  std::memcpy(&peer_, data, sizeof peer_);
  if (peer_.revision != kRevision) return Error{EPROTO, "the peer's `mrc perf` is of another version"};
  const bool same = peer_.size == options_.size && peer_.depth == depth_ && peer_.places == places_ &&
                    peer_.latency == options_.latency && peer_.imm == options_.imm &&
                    peer_.verify == options_.verify;
  if (!same)
    return Error{EINVAL,
                 "the peer measures something else: give both the same --size, --depth, --memory, --latency, "
                 "--imm and "
                 "--verify"};
  return Done{};
}

Status PerfSide::exchange(std::span<const double> ours, std::span<double> theirs) {
  std::size_t size = theirs.size_bytes();
  if (openmrc_exchange(connection_, ours.data(), ours.size_bytes(), theirs.data(), &size, kTimeoutMs) != 0)
    return said();
  return Done{};
}

bool PerfSide::peer_waits() const {
  pollfd fd{openmrc_connection_fd(connection_), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

void PerfSide::close() {
  openmrc_close(connection_, 2000);
  connection_ = nullptr;
}

int PerfSide::post(std::uint32_t qp, std::uint32_t from, std::uint32_t to, bool signaled) {
  ibv_sge sge{reinterpret_cast<std::uint64_t>(slot(qp, from)), static_cast<std::uint32_t>(options_.size),
              mr_->lkey};
  ibv_send_wr wr{}, *bad;
  wr.wr_id = qp;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = options_.imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  wr.send_flags =
      (signaled ? unsigned{IBV_SEND_SIGNALED} : 0u) | (options_.size <= 256 ? unsigned{IBV_SEND_INLINE} : 0u);
  wr.wr.rdma.remote_addr = peer_slot(qp, to);
  wr.wr.rdma.rkey = peer_.rkey;
  return mrc_post_send(qps_[qp], &wr, &bad);
}

int PerfSide::post_receives(std::uint32_t qp, std::uint32_t count) {
  ibv_recv_wr wr{}, *bad;
  wr.wr_id = qp;
  for (; count > 0; --count) {
    if (const int error = mrc_post_recv(qps_[qp], &wr, &bad); error != 0) return error;
  }
  return 0;
}

int PerfSide::grant(std::uint32_t qp, std::uint64_t immediates) {
  ibv_sge sge{reinterpret_cast<std::uint64_t>(&immediates), sizeof immediates, 0};
  ibv_send_wr wr{}, *bad;
  wr.wr_id = qp;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  wr.wr.rdma.remote_addr = peer_.va + places_ * stride_ + qp * sizeof immediates;
  wr.wr.rdma.rkey = peer_.rkey;
  return mrc_post_send(qps_[qp], &wr, &bad);
}

lib::DeviceCounters PerfSide::counters() const { return lib::soft_context(verbs_)->device()->counters(); }
std::string PerfSide::lame_planes() const {
  std::array<openmrc_plane, kMaxPorts> planes;
  const int n = openmrc_query_planes(qps_[0], planes.data(), static_cast<int>(planes.size()));
  const bool lame = n > 1 && std::any_of(planes.begin(), planes.begin() + n, [](const openmrc_plane& p) {
                      return p.link_up == 0 || p.usable == 0 || p.evs_good == 0;
                    });
  std::array<char, 2048> text{};
  return lame && openmrc_describe_planes(qps_[0], text.data(), text.size()) > 0 ? text.data() : "";
}
std::uint32_t PerfSide::mtu() const { return 128u << openmrc_agreed(connection_)->path_mtu; }

}  // namespace mrc::tools
