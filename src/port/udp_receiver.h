// Packets in from one UDP socket: from its mailbox, and what found no room there from the socket, several at
// a time. Each coalesced packet (UDP_GRO) is shown as its own view.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <optional>
#include <span>

#include "port/doorbell.h"
#include "port/mail_reader.h"
#include "port/port.h"

namespace mrc::port {

class UdpReceiver {
 public:
  /// `local` is what RxPacket::to says when the socket doesn't tell the destination of each packet.
  explicit UdpReceiver(const Address& local);
  UdpReceiver(UdpReceiver&&) noexcept;
  ~UdpReceiver();

  /// Of the socket that all further calls read. With a mailbox, the caller may attend().
  void use(const SharedDoorway& doorway, bool mailbox);
  bool has_doorbell() const { return bell_.has_value(); }
  /// What the socket has dropped before now was somebody else's.
  void forget_overruns(int fd);
  /// As Port has them.
  void attend() {
    if (mail_) mail_->box().attend();
  }
  bool rest() {
    const bool quiet = !mail_ || mail_->box().rest();
    return quiet && current_ == available_ && !(mail_ && mail_->is_reading());
  }

  /// As Port::rx, from this socket. Views live until the next call.
  std::size_t receive(int fd, std::span<RxPacket> out, Counters& counters);

  static constexpr std::uint32_t kMaxMessages = 32;
  static constexpr std::uint32_t kMaxMessageBytes = 65536;

 private:
  struct Message;

  void rearm(std::size_t i);
  std::size_t receive_mail(std::uint32_t taken, std::span<RxPacket> out, Counters& counters);
  std::size_t receive_stuck_mail(std::span<RxPacket> out, Counters& counters);
  bool refill(int fd, Counters& counters);
  int read(int fd);
  int receive_one(int fd);
  std::uint32_t most_at_once() const;
  void adapt(bool full);
  void open_message(std::size_t i, Counters& counters);
  void note_overruns(std::uint32_t total, Counters& counters);
  std::size_t split(std::span<RxPacket> out);

  Address local_;
  std::optional<Doorbell> bell_;
  std::optional<MailReader> mail_;
  std::unique_ptr<std::byte[]> storage_;
  std::unique_ptr<Message[]> messages_;
  std::unique_ptr<mmsghdr[]> headers_;
  std::uint32_t batch_ = 1;  // messages to ask for: grows while reads come back full
  bool full_before_ = false;
  std::uint32_t available_ = 0;                // messages of the last read
  std::uint32_t current_ = 0;                  // message being split
  std::uint32_t offset_ = 0;                   // into it
  std::optional<std::uint32_t> batch_begins_;  // messages taken before that read, while mail may belong there
  std::optional<std::uint32_t> before_mail_;   // messages that mail waited for when the socket was last asked
  std::uint32_t overruns_ = 0;                 // of the socket's queue, as far as we know
};

}  // namespace mrc::port
