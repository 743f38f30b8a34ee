#include "nccl/link.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <numeric>

namespace mrc::nccl {
namespace {

Error failed(const std::string& what, int error) { return {error, what + ": " + std::strerror(error)}; }

/// The error of a meeting says whom it was with.
Error about(const Error& error, const std::string& peer, std::uint32_t timeout_ms) {
  std::string what = error.what.starts_with(peer) ? error.what : peer + ": " + error.what;
  if (error.code == ETIMEDOUT)
    what += " (NCCL_OPENMRC_CONNECT_TIMEOUT_MS is " + std::to_string(timeout_ms) + ")";
  return {error.code, what};
}

}  // namespace

Result<std::unique_ptr<Link>> Link::make(const Device& device, const Shape& shape,
                                         std::unique_ptr<Ring> ring) {
  std::unique_ptr<Link> link(new Link(device, std::move(ring)));
  if (auto built = link->build(shape); !built) return built.error();
  return link;
}

Link::~Link() {
  if (connection_ != nullptr) ::openmrc_close(connection_, 0);
  if (place_.cq == nullptr) return;
  device_.driver().forget(place_);
  for (mrc_qp* qp : qps_) ::mrc_destroy_qp(qp);
  device_.driver().leave(place_, entries_);
}

openmrc_params Link::params(int traffic_class) const {
  openmrc_params p;
  ::openmrc_default_params(&p);
  const Retries retries = retries_within(device_.settings().timeout_ms);
  p.gid_index = static_cast<std::uint8_t>(device_.settings().gid_index);
  p.timeout = retries.timeout;
  p.linear_retries = retries.linear;
  p.exp_retries = retries.exponential;
  p.traffic_class = static_cast<std::uint8_t>(traffic_class);
  return p;
}

Status Link::build(const Shape& shape) {
  params_ = params(shape.traffic_class);
  entries_ = shape.qps * (shape.sends + shape.receives);
  commands_ = std::make_unique<Handoff<Command>>(shape.qps * shape.sends);
  completions_ = std::make_unique<Handoff<ibv_wc>>(entries_);
  const auto place = device_.driver().enter(*this, entries_);
  if (!place) return place.error();
  place_ = *place;
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = place_.cq;
  init.pd = device_.pd();
  init.cap = {shape.sends, shape.receives, 1, 1, 0};
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  for (std::uint32_t i = 0; i < shape.qps; ++i) {
    mrc_qp* qp = ::mrc_create_qp(device_.context(), &init);
    if (qp == nullptr) return failed("no queue pair", errno);
    qps_.push_back(qp);
  }
  if (const int error = ::openmrc_prepare(qps_.data(), static_cast<int>(qps_.size()), &params_); error != 0) {
    return Error{error, ::openmrc_error()};
  }
  for (std::uint32_t qp = 0; qp < shape.qps; ++qp) {
    for (std::uint32_t i = 0; i < shape.receives; ++i) {
      if (const int error = post_receive(qp); error != 0) return failed("can't post a receive", error);
    }
  }
  return Done{};
}

Status Link::connect(const std::string& host, std::uint16_t port, const Introduction& ours,
                     std::uint64_t cookie, int timeout_ms) {
  const std::string service = std::to_string(port);
  const int error = ::openmrc_connect(host.c_str(), service.c_str(), device_.verbs(), qps_.data(),
                                      static_cast<int>(qps_.size()), &params_, &ours, sizeof ours, timeout_ms,
                                      &connection_);
  const Status met = error != 0 ? Status(Error{error, ::openmrc_error()}) : meet(cookie);
  return met ? met
             : Status(about(met.error(), "no connection to " + host + " port " + service,
                            device_.settings().connect_timeout_ms));
}

Status Link::accept(openmrc_listener* listener, const Introduction& ours, std::uint64_t cookie,
                    int timeout_ms) {
  const int error = ::openmrc_accept(listener, device_.verbs(), qps_.data(), static_cast<int>(qps_.size()),
                                     &params_, &ours, sizeof ours, timeout_ms, &connection_);
  return error != 0 ? Status(Error{error, ::openmrc_error()}) : meet(cookie);
}

Status Link::meet(std::uint64_t cookie) {
  std::size_t size = 0;
  const void* data = ::openmrc_peer_data(connection_, &size);
  if (size != sizeof peer_) return Error{EPROTO, "something else than this plugin connected"};
  std::memcpy(&peer_, data, sizeof peer_);
  if (peer_.magic != kMagic || peer_.protocol != kProtocol) {
    return Error{EPROTO, "the peer's plugin speaks another protocol: install the same OpenMRC on all ranks"};
  }
  if (peer_.cookie != cookie) return Error{EPROTO, "somebody connected who was not meant to"};
  IpAddress address;
  std::memcpy(address.data(), ::openmrc_agreed(connection_)->peer_gid.raw, address.size());
  peer_name_ = text_of(address);
  return Done{};
}

bool Link::peer_has_gone() const {
  pollfd fd{connection_fd(), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

bool Link::peer_lingers() const {
  pollfd fd{connection_fd(), POLLIN | POLLRDHUP, 0};
  return ::poll(&fd, 1, 0) > 0 && fd.revents == POLLIN;
}

void Link::say_goodbye() {
  if (connection_ != nullptr) ::openmrc_say_goodbye(connection_);
}

Status Link::write(std::uint32_t qp, const Write& what, const std::uint32_t* immediate) {
  Command command;
  command.what = what;
  command.qp = qp;
  command.has_immediate = immediate != nullptr;
  command.immediate = immediate != nullptr ? *immediate : 0;
  if (!commands_->put(command)) return Error{EAGAIN, "more writes than were agreed on"};
  unanswered_.fetch_add(1, std::memory_order_relaxed);
  device_.driver().note_command(*this);
  device_.driver().note(what.size);
  help();
  return Done{};
}

Result<int> Link::poll(std::span<ibv_wc> out) {
  std::size_t n = 0;
  const auto take = [&] {
    while (n < out.size() && completions_->take(out[n])) ++n;
    return n > 0;
  };
  if (!take()) {
    help();
    take();
  }
  if (n == 0 && overrun_.load(std::memory_order_relaxed))
    return Error{EPROTO, peer_name_ + " sent more than was granted"};
  if (const int error = queue_error_.load(std::memory_order_relaxed); n == 0 && error != 0)
    return failed("lost " + peer_name_ + ": the completion queue on this side has failed", error);
  return static_cast<int>(n);
}

bool Link::post_handed_over() {
  Command command;
  bool any = false;
  while (commands_->take(command)) {
    any = true;
    const int error = post(command);
    if (error == 0) continue;
    ibv_wc failure{};
    failure.wr_id = command.what.id;
    failure.status = IBV_WC_GENERAL_ERR;
    failure.vendor_err = static_cast<std::uint32_t>(error);
    refused_.push_back(failure);
  }
  return any;
}

void Link::hand_back_refused() {
  for (ibv_wc& wc : refused_) hand_back(wc);
  refused_.clear();
}

void Link::hand_back(ibv_wc& wc) {
  wc.wr_id &= kReceiveId | ((std::uint64_t{1} << Driver::kLinkShift) - 1);
  if ((wc.wr_id & kReceiveId) == 0) unanswered_.fetch_sub(1, std::memory_order_relaxed);
  const bool received = (wc.wr_id & kReceiveId) != 0 && wc.status == IBV_WC_SUCCESS;
  if (received) post_receive(static_cast<std::uint32_t>(wc.wr_id & ~kReceiveId));
  if (received) device_.driver().note(wc.byte_len);
  if (!completions_->put(wc)) overrun_.store(true, std::memory_order_relaxed);
}

int Link::post(const Command& c) {
  const auto from = reinterpret_cast<std::uint64_t>(c.what.from);
  ibv_sge sge{from, static_cast<std::uint32_t>(c.what.size), c.what.lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = c.what.id | place_.number << Driver::kLinkShift;
  wr.sg_list = &sge;
  wr.num_sge = c.what.size > 0 ? 1 : 0;
  wr.opcode = c.has_immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = htonl(c.immediate);
  wr.wr.rdma.remote_addr = c.what.to;
  wr.wr.rdma.rkey = c.what.rkey;
  return ::mrc_post_send(qps_[c.qp], &wr, &bad);
}

int Link::post_receive(std::uint32_t qp) {
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = kReceiveId | place_.number << Driver::kLinkShift | qp;
  return ::mrc_post_recv(qps_[qp], &wr, &bad);
}

std::string Link::planes() const {
  const auto good = [](mrc_qp* qp) {
    std::array<openmrc_plane, 32> planes;
    const int n = ::openmrc_query_planes(qp, planes.data(), static_cast<int>(planes.size()));
    return std::accumulate(planes.begin(), planes.begin() + std::clamp(n, 0, 32), n > 0 ? 0 : INT_MAX,
                           [](int sum, const openmrc_plane& one) { return sum + one.evs_good; });
  };
  // The one that knows most of what is wrong.
  mrc_qp* worst = *std::min_element(qps_.begin(), qps_.end(),
                                    [&](mrc_qp* one, mrc_qp* other) { return good(one) < good(other); });
  std::array<char, 2048> text{};
  return ::openmrc_describe_planes(worst, text.data(), text.size()) > 0 ? text.data() : "";
}

}  // namespace mrc::nccl
