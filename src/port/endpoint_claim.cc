#include "port/endpoint_claim.h"

#include <sys/epoll.h>

#include "port/local_socket.h"
#include "port/seat_protocol.h"

namespace mrc::port {

void EndpointClaim::add(int fd) const {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

/// Explicitly, because a door that was handed over stays open elsewhere and epoll would go on watching it.
void EndpointClaim::remove(int fd) const {
  if (fd >= 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void EndpointClaim::adopt(Fd door) {
  remove(watch_.get());
  watch_.reset();
  door_ = std::move(door);
  add(door_.get());
}

void EndpointClaim::seek() {
  constexpr int kTries = 8;  // the holder may die between our two questions
  const std::string name = endpoint_door(udp_port_, bind_, interface_);
  for (int i = 0; role_ != EndpointRole::never && i < kTries; ++i) {
    if (auto door = listen_local(name); door) return adopt(std::move(*door));
    auto holder = connect_local(name);
    if (!holder) continue;
    watch_ = std::move(*holder);
    add(watch_.get());
    SeatMessage wish;
    wish.ask = SeatAsk::endpoint;
    wish.bind = bind_;
    interface_.copy(wish.interface, sizeof wish.interface);
    if (role_ == EndpointRole::insist) send_message(watch_.get(), &wish, sizeof wish);
    return;
  }
}

// MRC-PORT-002: when the holder goes, one of those that watch takes its place.
void EndpointClaim::on_watch() {
  SeatMessage answer;
  auto received = receive_message(watch_.get(), &answer, sizeof answer);
  const bool given = received && answer.known() && answer.error == 0 && received->descriptors.size() == 1;
  if (given) return adopt(std::move(received->descriptors[0]));
  if (received) return;  // refused: stay a watcher
  remove(watch_.get());
  watch_.reset();
  seek();
}

void EndpointClaim::hand_over(int client) {
  SeatMessage answer;
  answer.ask = SeatAsk::endpoint;
  if (!send_message(client, &answer, sizeof answer, {door_.get()})) return;
  remove(door_.get());
  door_.reset();
  role_ = role_ == EndpointRole::insist ? EndpointRole::if_free : role_;  // two that insist would never rest
}

}  // namespace mrc::port
