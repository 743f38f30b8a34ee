// A port that shows every packet that passes, each way, to whoever derives from it. It costs what the showing
// costs: for looking, not for speed.
#pragma once

#include "port/wrapped_port.h"

namespace mrc::port {

/// One packet that passed, with what stands or will stand around it.
struct Sighting {
  bool outgoing = false;
  std::span<const iovec> pieces;  // the packet's bytes in a row
  std::size_t size = 0;
  Address from, to;  // datagrams; for frames they are in the bytes, as is everything below
  const Address* outer = nullptr;
  const Address* outer_next = nullptr;
  std::uint16_t source_port = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t tos = 0;
};

class TapPort : public WrappedPort {
 public:
  using WrappedPort::WrappedPort;

  std::size_t tx(std::span<TxTrain> trains) override;
  std::size_t rx(std::span<RxPacket> out) override;

 protected:
  virtual void see(const Sighting& packet) = 0;

 private:
  void show_train(const TxTrain& train);
};

}  // namespace mrc::port
