#include "nccl/link.h"

#include <arpa/inet.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

namespace mrc::nccl {
namespace {

Error failed(const std::string& what, int error) { return {error, what + ": " + std::strerror(error)}; }

}  // namespace

Result<std::unique_ptr<Link>> Link::make(const Device& device, const Shape& shape,
                                         std::unique_ptr<GrantRing> ring) {
  std::unique_ptr<Link> link(new Link(device, std::move(ring)));
  if (auto built = link->build(shape); !built) return built.error();
  return link;
}

Link::~Link() {
  if (connection_ != nullptr) ::openmrc_close(connection_, 0);
  for (mrc_qp* qp : qps_) ::mrc_destroy_qp(qp);
  if (cq_ != nullptr) ::mrc_destroy_cq(cq_);
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
  cq_ = ::mrc_create_cq(device_.context(), static_cast<int>(shape.qps * (shape.sends + shape.receives) + 1),
                        nullptr, nullptr, 0);
  if (cq_ == nullptr) return failed("no completion queue", errno);
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.pd = device_.pd();
  init.cap = {shape.sends, shape.receives, 1, 1, kInline};
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
      if (auto posted = post_receive(qp); !posted) return posted;
    }
  }
  return Done{};
}

Status Link::connect(const std::string& host, std::uint16_t port, const Introduction& ours, int timeout_ms) {
  const int error = ::openmrc_connect(host.c_str(), std::to_string(port).c_str(), device_.verbs(),
                                      qps_.data(), static_cast<int>(qps_.size()), &params_, &ours,
                                      sizeof ours, timeout_ms, &connection_);
  return error != 0 ? Status(Error{error, ::openmrc_error()}) : meet(ours);
}

Status Link::accept(openmrc_listener* listener, const Introduction& ours, int timeout_ms) {
  const int error = ::openmrc_accept(listener, device_.verbs(), qps_.data(), static_cast<int>(qps_.size()),
                                     &params_, &ours, sizeof ours, timeout_ms, &connection_);
  return error != 0 ? Status(Error{error, ::openmrc_error()}) : meet(ours);
}

Status Link::meet(const Introduction& ours) {
  std::size_t size = 0;
  const void* data = ::openmrc_peer_data(connection_, &size);
  if (size != sizeof peer_) return Error{EPROTO, "something else than this plugin connected"};
  std::memcpy(&peer_, data, sizeof peer_);
  if (peer_.magic != kMagic || peer_.protocol != kProtocol) {
    return Error{EPROTO, "the peer's plugin speaks another protocol: install the same OpenMRC on all ranks"};
  }
  if (peer_.cookie != ours.cookie) return Error{EPROTO, "somebody connected who was not meant to"};
  IpAddress address;
  std::memcpy(address.data(), ::openmrc_agreed(connection_)->peer_gid.raw, address.size());
  peer_name_ = text_of(address);
  return Done{};
}

bool Link::peer_has_gone() const {
  pollfd fd{connection_fd(), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

void Link::say_goodbye() {
  if (connection_ != nullptr) ::openmrc_say_goodbye(connection_);
}

Status Link::write(std::uint32_t qp, const Write& what, const std::uint32_t* immediate) {
  ibv_sge sge{reinterpret_cast<std::uint64_t>(what.from), static_cast<std::uint32_t>(what.size), what.lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = what.id;
  wr.sg_list = &sge;
  wr.num_sge = what.size > 0 ? 1 : 0;
  wr.opcode = immediate != nullptr ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  wr.send_flags = unsigned{IBV_SEND_SIGNALED} | (what.copy ? unsigned{IBV_SEND_INLINE} : 0u);
  if (immediate != nullptr) wr.imm_data = htonl(*immediate);
  wr.wr.rdma.remote_addr = what.to;
  wr.wr.rdma.rkey = what.rkey;
  const int error = ::mrc_post_send(qps_[qp], &wr, &bad);
  return error == 0 ? Status(Done{}) : Status(failed("can't post a write to " + peer_name_, error));
}

Status Link::post_receive(std::uint32_t qp) {
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = kReceiveId | qp;
  const int error = ::mrc_post_recv(qps_[qp], &wr, &bad);
  return error == 0 ? Status(Done{}) : Status(failed("can't post a receive", error));
}

Result<int> Link::poll(std::span<ibv_wc> out) {
  const int n = ::mrc_poll_cq(cq_, static_cast<int>(out.size()), out.data());
  if (n < 0) return Error{EIO, "the completion queue of " + peer_name_ + " has overrun"};
  return n;
}

std::string Link::planes() const {
  openmrc_plane planes[32];
  const int n = ::openmrc_query_planes(qps_[0], planes, 32);
  std::string text;
  for (int i = 0; i < n; ++i) {
    const openmrc_plane& p = planes[i];
    const char* state = p.link_up == 0 ? "down" : p.usable != 0 ? "up" : "up, the peer's port down";
    text += (i > 0 ? "; " : "") + std::string(p.interface_name) + " " + state + ", " +
            std::to_string(p.evs_good) + " of " + std::to_string(p.evs) + " EVs good";
  }
  return text;
}

}  // namespace mrc::nccl
