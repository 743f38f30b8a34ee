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
  const Mailbox::Slot* slot = box_.front();
  while (slot != nullptr && slot->size <= kUdpHeader) {  // it went to the socket after all
    box_.take();
    slot = box_.front();
  }
  if (slot == nullptr || before(*slot, taken) > 0) return false;
  box_.take();
  current_ = &mails_[opened_++ % DoorwayMemory::kSlots];
  current_->about = {.to = local_};
  current_->about.read(*slot);
  current_->payload = slot->udp + kUdpHeader;
  current_->left = slot->size - kUdpHeader;
  current_->packet_bytes = slot->packet_bytes != 0 ? slot->packet_bytes : current_->left;
  return true;
}

}  // namespace mrc::port
