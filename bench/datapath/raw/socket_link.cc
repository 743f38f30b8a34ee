// Raw UDP as a good programmer would write it: the ceiling that ports are compared with. Uses nothing of
// src/port's data path on purpose.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "link.h"
#include "port/address.h"
#include "port/fd.h"

namespace mrc::bench {
namespace {

constexpr unsigned kBatch = 32;
constexpr std::uint16_t kPort = 4791;
constexpr std::uint16_t kFirstSource = 61000;

port::Address address(bool left, bool v6) {
  return *port::parse_address(v6 ? (left ? "fd77::1" : "fd77::2") : (left ? "10.77.0.1" : "10.77.0.2"));
}

bool set(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

port::Fd bound(const port::Address& local, std::uint16_t udp_port) {
  port::Fd fd(::socket(local.is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto name = port::to_socket_address(local, udp_port);
  if (!fd || ::bind(fd.get(), &name.any, name.size) < 0) {
    std::perror("bind");
    return port::Fd();
  }
  return fd;
}

class SocketLink final : public Link {
 public:
  bool open(const LinkPlan& plan) {
    plan_ = plan;
    receiving_ = bound(address(plan.left, plan.v6), kPort);
    if (!receiving_) return false;
    if (plan.train > 1) set(receiving_.get(), SOL_UDP, UDP_GRO, 1);
    if (!set(receiving_.get(), SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20))
      set(receiving_.get(), SOL_SOCKET, SO_RCVBUF, 32 << 20);
    for (unsigned i = 0; i < plan.paths; ++i) {
      sending_.push_back(bound(address(plan.left, plan.v6), static_cast<std::uint16_t>(kFirstSource + i)));
      if (!sending_.back()) return false;
      if (plan.train > 1)
        set(sending_.back().get(), SOL_UDP, UDP_SEGMENT, static_cast<int>(plan.packet_bytes));
    }
    prepare();
    return true;
  }

  unsigned send_batch() override {
    port::Fd& socket = sending_[turn_++ % sending_.size()];
    // A new path for each train costs a system call for each train: that is what spraying through sockets is.
    const unsigned trains = plan_.paths > 1 ? 1 : plan_.train > 1 ? 4 : kBatch;
    const int sent = ::sendmmsg(socket.get(), out_, trains, 0);
    return sent > 0 ? static_cast<unsigned>(sent) * plan_.train : 0;
  }
  bool send_one() override { return ::sendmsg(sending_[0].get(), &out_[0].msg_hdr, 0) > 0; }

  unsigned receive(std::uint64_t& bytes) override {
    if (plan_.blocking) {
      const ssize_t size = ::recv(receiving_.get(), buffer_.data(), buffer_.size(), 0);
      bytes += size > 0 ? static_cast<std::uint64_t>(size) : 0;
      return size > 0 ? 1 : 0;
    }
    if (plan_.train > 1 || plan_.packet_bytes < 1000) {
      const ssize_t size = ::recv(receiving_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (size <= 0) return 0;
      bytes += static_cast<std::uint64_t>(size);
      return (static_cast<unsigned>(size) + plan_.packet_bytes - 1) / plan_.packet_bytes;
    }
    const int got = ::recvmmsg(receiving_.get(), in_, kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < got; ++i) bytes += in_[i].msg_len;
    return got > 0 ? static_cast<unsigned>(got) : 0;
  }

 private:
  void prepare() {
    peer_ = port::to_socket_address(address(!plan_.left, plan_.v6), kPort);
    payload_.assign(static_cast<std::size_t>(plan_.packet_bytes) * plan_.train, 'm');
    buffer_.resize(kBatch * 65536);
    piece_ = {payload_.data(), payload_.size()};
    for (unsigned i = 0; i < kBatch; ++i) {
      out_[i].msg_hdr = {};
      out_[i].msg_hdr.msg_name = &peer_.any;
      out_[i].msg_hdr.msg_namelen = peer_.size;
      out_[i].msg_hdr.msg_iov = &piece_;
      out_[i].msg_hdr.msg_iovlen = 1;
      room_[i] = {buffer_.data() + i * 65536, 65536};
      in_[i].msg_hdr = {};
      in_[i].msg_hdr.msg_iov = &room_[i];
      in_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  LinkPlan plan_;
  port::Fd receiving_;
  std::vector<port::Fd> sending_;
  port::SocketAddress peer_{};
  std::vector<char> payload_, buffer_;
  iovec piece_{};
  iovec room_[kBatch];
  mmsghdr out_[kBatch], in_[kBatch];
  unsigned turn_ = 0;
};

}  // namespace

std::unique_ptr<Link> open_socket_link(const LinkPlan& plan) {
  auto link = std::make_unique<SocketLink>();
  if (!link->open(plan)) return nullptr;
  return link;
}

std::unique_ptr<Link> open_link(const std::string& via, const LinkPlan& plan) {
  return via == "socket" ? open_socket_link(plan) : open_port_link(via, plan);
}

}  // namespace mrc::bench
