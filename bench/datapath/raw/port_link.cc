// The same traffic through a Port, with MRC's shape: a header piece and a payload piece per packet.
#include <poll.h>

#include <cstdio>
#include <vector>

#include "link.h"
#include "port/framed_port.h"
#include "port/packet_port.h"
#include "port/udp_port.h"
#include "port/xdp_port.h"

namespace mrc::bench {
namespace {

constexpr unsigned kHeader = 64;
constexpr std::uint16_t kFirstSource = 61000;

port::Address address(bool left, bool v6) {
  return *port::parse_address(v6 ? (left ? "fd77::1" : "fd77::2") : (left ? "10.77.0.1" : "10.77.0.2"));
}

class PortLink final : public Link {
 public:
  PortLink(std::unique_ptr<port::Port> port, const LinkPlan& plan)
      : port_(std::move(port)), plan_(plan), peer_(address(!plan.left, plan.v6)) {
    payload_.assign(1 << 20, 'm');
    headers_.assign(kHeader * plan.train, 'h');
    for (unsigned i = 0; i < plan.train; ++i) {
      const unsigned head = plan.packet_bytes < kHeader ? plan.packet_bytes : kHeader;
      pieces_.push_back({headers_.data() + i * kHeader, head});
      if (plan.packet_bytes > head) pieces_.push_back({payload_.data() + i * 4096, plan.packet_bytes - head});
    }
    const unsigned trains = plan.train > 1 ? 4 : 32;
    for (unsigned i = 0; i < trains; ++i) {
      trains_.push_back({.pieces = pieces_.data(),
                         .piece_count = static_cast<std::uint32_t>(pieces_.size()),
                         .packet_bytes = plan.packet_bytes,
                         .packets = static_cast<std::uint16_t>(plan.train),
                         .source_port = static_cast<std::uint16_t>(kFirstSource + i % plan.paths),
                         .flow_label = i % plan.paths,
                         .tos = 18 << 2 | 2,
                         .to = &peer_});
    }
  }

  unsigned send_batch() override { return static_cast<unsigned>(port_->tx(trains_)) * plan_.train; }
  bool send_one() override { return port_->tx({trains_.data(), 1}) == 1 && trains_[0].error == 0; }
  unsigned receive(std::uint64_t& bytes) override {
    std::size_t n = port_->rx(packets_);
    if (n == 0 && plan_.blocking) {
      pollfd ready[] = {{port_->wait_fd(), POLLIN, 0}, {port_->event_fd(), POLLIN, 0}};
      ::poll(ready, 2, 100);
      port_->service();
      n = port_->rx(packets_);
    }
    for (std::size_t i = 0; i < n; ++i) bytes += packets_[i].size;
    return static_cast<unsigned>(n);
  }

 private:
  std::unique_ptr<port::Port> port_;
  LinkPlan plan_;
  port::Address peer_;
  std::vector<char> payload_, headers_;
  std::vector<iovec> pieces_;
  std::vector<port::TxTrain> trains_;
  port::RxPacket packets_[64];
};

Result<std::unique_ptr<port::Port>> open_udp(const LinkPlan& plan) {
  auto port = port::UdpPort::open({.local = address(plan.left, plan.v6)});
  if (!port) return port.error();
  return std::unique_ptr<port::Port>(std::move(*port));
}

Result<std::unique_ptr<port::Port>> open_frames(const std::string& kind, const char* interface) {
  if (kind == "packet") {
    auto port = port::PacketPort::open({.interface = interface});
    if (!port) return port.error();
    return std::unique_ptr<port::Port>(std::move(*port));
  }
  auto port = port::XdpPort::open({.interface = interface, .driver_mode = kind == "xdp"});
  if (!port) return port.error();
  return std::unique_ptr<port::Port>(std::move(*port));
}

Result<std::unique_ptr<port::Port>> open_framed(const std::string& kind, const LinkPlan& plan) {
  auto frames = open_frames(kind, plan.left ? "l0" : "r0");
  if (!frames) return frames.error();
  auto port = port::FramedPort::open(std::move(*frames), {.local = address(plan.left, plan.v6)});
  if (!port) return port.error();
  return std::unique_ptr<port::Port>(std::move(*port));
}

}  // namespace

std::unique_ptr<Link> open_port_link(const std::string& kind, const LinkPlan& plan) {
  auto opened = kind == "udp" ? open_udp(plan) : open_framed(kind, plan);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().what.c_str());
    return nullptr;
  }
  return std::make_unique<PortLink>(std::move(*opened), plan);
}

}  // namespace mrc::bench
