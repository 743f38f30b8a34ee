// Packets from a mailbox, in their order with those that go to its socket.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "port/about.h"
#include "port/doorbell.h"
#include "port/mailbox.h"

namespace mrc::port {

class MailReader {
 public:
  /// `local` is an address of the socket's family.
  MailReader(SharedDoorway doorway, const Address& local) : box_(std::move(doorway)), local_(local) {}

  Mailbox& box() { return box_; }

  /// As Port::rx, of what came before everything that `bell` still waits for. A path's packets stay in their
  /// order: who asks behind a packet must not hear that it has not come. Null: of all. Views live until the
  /// next call.
  std::size_t read(const Doorbell* bell, std::span<RxPacket> out, Counters& counters);

 private:
  /// A message whose packets are looked at.
  struct Mail {
    About about;
    const std::uint8_t* payload;
    std::uint32_t left;
    std::uint32_t packet_bytes;
  };
  bool open_next(const Doorbell* bell);

  Mailbox box_;
  Address local_;
  std::unique_ptr<Mail[]> mails_{new Mail[DoorwayMemory::kSlots]};
  std::uint32_t opened_ = 0;
  Mail* current_ = nullptr;
};

}  // namespace mrc::port
