#include "tools/conform_agent.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/connect_socket.h"
#include "port/address.h"
#include "tools/line_socket.h"
#include "tools/soft_device.h"

namespace mrc::tools {
namespace {

using conform::Completed;
using conform::PostedWrite;
using conform::Target;
using engine::WorkStatus;

constexpr std::size_t kMemory = 1 << 20;
constexpr std::uint32_t kDepth = 1024;
constexpr std::uint64_t kReceive = std::uint64_t{1}
                                   << 63;  // in wr_id: a failed completion does not say its kind
constexpr Target kOffered{.psn = Psn(0xFFFFA0), .mpr = 8, .max_wimm = 32};

Error failed(const char* what, int error = errno) {
  return {error, std::string(what) + ": " + std::strerror(error)};
}

WorkStatus status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return WorkStatus::success;
    case IBV_WC_RETRY_EXC_ERR: return WorkStatus::retry_exceeded;
    case IBV_WC_REM_ACCESS_ERR: return WorkStatus::remote_access_error;
    case IBV_WC_REM_INV_REQ_ERR: return WorkStatus::remote_invalid_request;
    case IBV_WC_REM_OP_ERR: return WorkStatus::remote_operation_error;
    case IBV_WC_LOC_PROT_ERR: return WorkStatus::local_protection_error;
    default: return WorkStatus::flushed;
  }
}

}  // namespace

ConformAgent::ConformAgent() : memory_(kMemory) {}

Result<std::unique_ptr<ConformAgent>> ConformAgent::open(const AgentOptions& options) {
  if (auto chosen = choose_device(options.device, options.address); !chosen) return chosen.error();
  // What most checks look at is the protocol: a path for each packet, and no window but MPR.
  ::setenv("MRC_SPRAY_UNIT", "1", 0);
  ::setenv("MRC_CC", "off", 0);
  std::unique_ptr<ConformAgent> agent(new ConformAgent);
  if (auto made = agent->make(); !made) return made.error();
  return agent;
}

Status ConformAgent::make() {
  auto opened = open_soft_device();
  if (!opened) return opened.error();
  verbs_ = *opened;
  gid_index_ = gid_index_of(verbs_);
  context_ = mrc_create_context(verbs_, nullptr);
  pd_ = ibv_alloc_pd(verbs_);
  if (context_ == nullptr || pd_ == nullptr) return failed("no context");
  mr_ = ibv_reg_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  cq_ = mrc_create_cq(context_, 4 * kDepth, nullptr, nullptr, 0);
  controls_ = static_cast<bool>(control_.make(context_));  // without the right, one check is skipped
  return mr_ != nullptr && cq_ != nullptr ? Status(Done{}) : failed("no memory region or completion queue");
}

ConformAgent::~ConformAgent() {
  end_qp();
  if (cq_ != nullptr) mrc_destroy_cq(cq_);
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
  if (pd_ != nullptr) ibv_dealloc_pd(pd_);
  if (context_ != nullptr) mrc_destroy_context(context_);
  if (verbs_ != nullptr) ibv_close_device(verbs_);
}

void ConformAgent::end_qp() {
  if (qp_ != nullptr) mrc_destroy_qp(qp_);
  qp_ = nullptr;
}

Status ConformAgent::raise(const conform::ConnectRequest& request) {
  const conform::Terms& t = request.terms;
  const auto peer = port::parse_address(request.tester);
  if (!peer) return peer.error();
  ibv_qp_attr v{};
  mrc_qp_attr m{};
  v.qp_state = IBV_QPS_INIT;
  v.port_num = 1;
  v.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  m.profile.ev_profile_id = m.profile.cc_profile_id = ConformControl::kProfile;
  const int profiles = (t.controlled && controls_ ? MRC_QP_EV_PROFILE_ID : 0) |
                       (t.congestion.window != 0 ? MRC_QP_CC_PROFILE_ID : 0);
  int error = mrc_modify_qp(qp_, &v, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, &m,
                            profiles);
  if (error != 0) return failed("INIT", error);
  v.qp_state = IBV_QPS_RTR;
  v.path_mtu = static_cast<ibv_mtu>(std::countr_zero(t.mtu) - 7);
  v.dest_qp_num = t.qpn.value;
  v.rq_psn = t.psn.value();
  v.ah_attr.is_global = 1;
  v.ah_attr.port_num = 1;
  v.ah_attr.grh.sgid_index = gid_index_;
  v.ah_attr.grh.hop_limit = 64;
  std::memcpy(v.ah_attr.grh.dgid.raw, peer->ip.data(), peer->ip.size());
  m.mpr = {t.mpr, kOffered.mpr};
  m.wimm = {t.max_wimm, kOffered.max_wimm};
  error = mrc_modify_qp(qp_, &v, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
                        &m, MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST | MRC_QP_CAP);
  if (error != 0) return failed("RTR", error);
  v.qp_state = IBV_QPS_RTS;
  v.sq_psn = kOffered.psn.value();
  m.timeout = t.timeout;
  m.retry = {t.linear_retries, t.exponential_retries};
  error = mrc_modify_qp(qp_, &v, IBV_QP_STATE | IBV_QP_SQ_PSN, &m,
                        MRC_QP_MPR | MRC_QP_MAX_WIMM | MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT);
  return error == 0 ? Status(Done{}) : failed("RTS", error);
}

Status ConformAgent::post_receives(int count) {
  for (int i = 0; i < count; ++i) {
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = kReceive | static_cast<unsigned>(i);
    if (const int error = mrc_post_recv(qp_, &wr, &bad); error != 0) return failed("a receive", error);
  }
  return Done{};
}

Result<std::string> ConformAgent::connect(const conform::ConnectRequest& request) {
  if (!std::has_single_bit(request.terms.mtu) || request.terms.mtu < 256) return Error{EINVAL, "no such MTU"};
  end_qp();
  control_.forgive(context_);
  (void)static_cast<bool>(completions());
  if (const conform::Terms& t = request.terms; t.congestion.window != 0) {
    if (!controls_) return Error{EPERM, "a CC profile needs CAP_NET_ADMIN"};
    if (auto made = control_.set_congestion(context_, t.congestion.profile(t.mtu)); !made)
      return made.error();
  }
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.pd = pd_;
  init.cap = {kDepth, kDepth, 1, 1, 0};
  init.sq_sig_all = 1;
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  qp_ = mrc_create_qp(context_, &init);
  if (qp_ == nullptr) return failed("no queue pair");
  if (auto raised = raise(request); !raised) return raised.error();
  if (auto posted = post_receives(request.terms.receives); !posted) return posted.error();
  Target target = kOffered;
  std::uint32_t qpn = 0;
  mrc_get_qpn(qp_, &qpn);
  target.qpn = Qpn(qpn);
  target.rkey = RKey(mr_->rkey);
  target.va = reinterpret_cast<std::uint64_t>(memory_.data());
  target.length = kMemory;
  target.mtu = request.terms.mtu;
  return to_text(target);
}

Result<std::string> ConformAgent::post(const std::vector<PostedWrite>& writes) {
  if (qp_ == nullptr) return Error{ENOTCONN, "connect first"};
  for (const PostedWrite& w : writes) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(memory_.data()), w.length, mr_->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = w.id & ~kReceive;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = w.has_imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    wr.imm_data = __builtin_bswap32(w.imm);
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma = {conform::kTesterVa, conform::kTesterKey.value};
    if (const int error = mrc_post_send(qp_, &wr, &bad); error != 0) return failed("a write", error);
  }
  return std::string();
}

Result<std::string> ConformAgent::deny(const std::string& words) {
  unsigned long ev = 0;
  if (!controls_ || std::sscanf(words.c_str(), "%lu", &ev) != 1)
    return Error{EINVAL, "deny EV, with CAP_NET_ADMIN"};
  const auto said = control_.set_state(context_, Ev(static_cast<std::uint32_t>(ev)), true);
  return said ? Result(std::string()) : said.error();
}

Result<std::string> ConformAgent::completions() {
  std::vector<Completed> done;
  ibv_wc wc[32];
  for (int n; (n = mrc_poll_cq(cq_, 32, wc)) > 0;) {
    for (int i = 0; i < n; ++i) {
      Completed c{wc[i].wr_id & ~kReceive, (wc[i].wr_id & kReceive) != 0, status_of(wc[i].status)};
      c.has_imm = c.receive && wc[i].status == IBV_WC_SUCCESS && (wc[i].wc_flags & IBV_WC_WITH_IMM) != 0;
      c.imm = c.has_imm ? __builtin_bswap32(wc[i].imm_data) : 0;
      done.push_back(c);
    }
  }
  return to_text(done);
}

Result<std::string> ConformAgent::memory(const std::string& words) const {
  unsigned long offset = 0, length = 0;
  if (std::sscanf(words.c_str(), "%lu %lu", &offset, &length) != 2 || length > 4096 ||
      offset > kMemory - length) {
    return Error{EINVAL, "memory OFFSET LENGTH, at most 4096 bytes within what was offered"};
  }
  return conform::to_hex(
      {memory_.begin() + static_cast<long>(offset), memory_.begin() + static_cast<long>(offset + length)});
}

std::string ConformAgent::answer(const std::string& line) {
  const std::size_t space = line.find(' ');
  const std::string verb = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  const auto act = [&]() -> Result<std::string> {
    if (verb == "abilities")
      return std::string(controls_ ? "post completions memory deny congestion" : "post completions memory");
    if (verb == "deny") return deny(rest);
    if (verb == "completions") return completions();
    if (verb == "memory") return memory(rest);
    if (verb == "connect") {
      const auto request = conform::parse_connect(rest);
      return request ? connect(*request) : request.error();
    }
    if (verb == "post") {
      const auto writes = conform::parse_writes(rest);
      return writes ? post(*writes) : writes.error();
    }
    return Error{EPROTO, "abilities, connect, post, completions, memory or deny"};
  };
  const auto result = act();
  if (!result) return "error " + result.error().what;
  return result->empty() ? "ok" : "ok " + *result;
}

Status serve_conform(const AgentOptions& options) {
  auto agent = ConformAgent::open(options);
  if (!agent) return agent.error();
  auto listener = lib::connect::listen_tcp(options.address.c_str(), options.service.c_str());
  if (!listener) return listener.error();
  const int port = lib::connect::local_port(listener->get());
  std::printf(options.json ? "{\"address\":\"%s\",\"port\":%d}\n" : "waiting for a tester at %s port %d\n",
              options.address.c_str(), port);
  std::fflush(stdout);
  do {
    auto socket = lib::connect::accept_tcp(listener->get(), kNever);
    if (!socket) return socket.error();
    LineSocket lines(*std::move(socket));
    while (auto line = lines.receive(conform::kLongestLine, -1)) {
      if (!lines.send((*agent)->answer(*line), 10'000)) break;
    }
  } while (!options.once);
  return Done{};
}

}  // namespace mrc::tools
