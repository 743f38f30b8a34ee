// For tests: two ports joined in memory, and two hosts (NIC, driver, memory) that talk over any pair of
// ports.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datapath/driver.h"
#include "nic/testing.h"

namespace mrc::datapath::testing {

/// A datagram port whose wire is the other one's inbox.
class MemoryPort final : public port::Port {
 public:
  MemoryPort(const port::Address& local, std::uint32_t max_train) : local_(local), max_train_(max_train) {}
  void join(MemoryPort& peer) { peer_ = &peer, peer.peer_ = this; }

  std::size_t tx(std::span<port::TxTrain> trains) override;
  std::size_t rx(std::span<port::RxPacket> out) override;
  int wait_fd() const override { return -1; }
  std::optional<port::Link> poll_link_event() override;
  port::Link link() const override { return {up_, 9000, 0, 1}; }
  port::Address local() const override { return local_; }
  port::Capabilities capabilities() const override;
  const port::Counters& counters() const override { return counters_; }

  void set_link(bool up) { up_ = up, told_ = false; }
  std::size_t room = ~std::size_t{0};  // trains that it takes until somebody makes room again
  std::vector<std::uint16_t> train_lengths;
  /// Sees each packet on its way out, and may change it. False: it is lost.
  std::function<bool(std::string& bytes)> tamper;

 private:
  struct Packet {
    std::string bytes;
    port::Address from, to;
    std::uint16_t source_port;
    std::uint8_t tos;
  };
  void deliver(const port::TxTrain& train);

  port::Address local_;
  std::uint32_t max_train_;
  MemoryPort* peer_ = nullptr;
  std::deque<Packet> inbox_;
  std::vector<Packet> taken_;
  port::Counters counters_;
  bool up_ = true, told_ = true;
};

/// A NIC with memory and a driver over the given ports.
struct Station {
  Station(int number, const nic::testing::HostOptions& options, std::vector<port::Port*> ports,
          const DriverSettings& settings = {});

  nic::testing::Host host;
  Driver driver;
};

/// Connects two QPs, one at each station, whose addresses are those of their ports.
nic::testing::Pair::Qps connect(Station& a, Station& b, Time now, const nic::QpConnect& like = {});
int write(Station& a, Station& b, Time now, nic::Qp& qp, std::size_t from, std::size_t to,
          std::uint32_t length, std::uint64_t wr_id = 1);

}  // namespace mrc::datapath::testing
