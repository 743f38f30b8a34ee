// Packets from a mailbox, in their order with those that go to its socket.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "port/about.h"
#include "port/mailbox.h"

namespace mrc::port {

class MailReader {
 public:
  /// `local` is an address of the socket's family.
  MailReader(SharedDoorway doorway, const Address& local) : box_(std::move(doorway)), local_(local) {}

  Mailbox& box() { return box_; }

  /// As Port::rx, of what comes next when the first `taken` messages of the socket were taken. A path's
  /// packets stay in their order: who asks behind a packet must not hear that it has not come. Views live
  /// until the next call.
  std::size_t read(std::uint32_t taken, std::span<RxPacket> out, Counters& counters);
  /// Some message is partly read.
  bool is_reading() const { return current_ != nullptr; }
  /// A message is being written, and nobody knows yet what comes before it, or behind it.
  bool is_blind() const { return box_.front() == nullptr && box_.has_more(); }
  /// How many of the socket's come before our next, if we have one.
  std::optional<std::uint32_t> before_next(std::uint32_t taken) const {
    const Mailbox::Letter* next = box_.front();
    return next != nullptr ? std::optional(before(*next, taken)) : std::nullopt;
  }

 private:
  /// A message whose packets are looked at.
  struct Mail {
    About about;
    const std::uint8_t* payload;
    std::uint32_t left;
    std::uint32_t packet_bytes;
  };
  static std::uint32_t before(const Mailbox::Letter& letter, std::uint32_t taken) {
    const auto left = static_cast<std::int32_t>(letter.after - taken);
    return left > 0 ? static_cast<std::uint32_t>(left) : 0;
  }
  bool open_next(std::uint32_t taken);

  Mailbox box_;
  Address local_;
  std::unique_ptr<Mail[]> mails_{new Mail[DoorwayMemory::kLetters]};
  std::uint32_t opened_ = 0;
  Mail* current_ = nullptr;
};

}  // namespace mrc::port
