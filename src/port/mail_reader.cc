#include "port/mail_reader.h"

#include <algorithm>

namespace mrc::port {

std::size_t MailReader::read(std::uint32_t taken, std::span<RxPacket> out, Counters& counters) {
  if (current_ == nullptr) box_.give_back();
  std::size_t n = 0;
  while (n < out.size() && (current_ != nullptr || open_next(taken))) {
    Mail& mail = *current_;
    const std::uint32_t size = std::min(mail.packet_bytes, mail.left);
    out[n++] = mail.about.packet(mail.payload, size);
    counters.rx_bytes += size;
    mail.payload += size;
    mail.left -= size;
    if (mail.left == 0) current_ = nullptr;
  }
  counters.rx_packets += n;
  return n;
}

bool MailReader::open_next(std::uint32_t taken) {
  constexpr std::uint32_t kUdpHeader = 8;
  const Mailbox::Letter* letter = box_.front();
  while (letter != nullptr && (letter->queued != 0 || letter->size == kUdpHeader)) {
    box_.take();
    letter = box_.front();
  }
  if (letter == nullptr || before(*letter, taken) > 0) return false;
  const std::uint8_t* udp = box_.front_bytes();
  box_.take();
  current_ = &mails_[opened_++ % DoorwayMemory::kLetters];
  current_->about = {.to = local_};
  current_->about.read(*letter, udp);
  current_->payload = udp + kUdpHeader;
  current_->left = letter->size - kUdpHeader;
  current_->packet_bytes = letter->packet_bytes != 0 ? letter->packet_bytes : current_->left;
  return true;
}

}  // namespace mrc::port
