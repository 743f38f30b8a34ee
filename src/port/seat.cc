#include "port/seat.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "port/local_socket.h"

namespace mrc::port {
namespace {

constexpr int kAnswerTimeoutMs = 10'000;  // of a process that may wait for a core
constexpr std::size_t kMaxClients = 256;

void watch(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

std::string interface_of(const SeatMessage& message) {
  return {message.interface, strnlen(message.interface, sizeof message.interface)};
}

std::string process(int fd) {
  const auto peer = peer_of(fd);
  if (!peer) return "a process that is gone";
  return "process " + std::to_string(peer->pid) + " of user " + std::to_string(peer->uid);
}

}  // namespace

Seat::Seat(const SeatOptions& options, Fd epoll) : options_(options), epoll_(std::move(epoll)) {}

Result<std::shared_ptr<Seat>> Seat::take(const SeatOptions& options) {
  if (!options.steering.valid())
    return Error{EINVAL, "the number of seats must be a power of two from 2 to 128"};
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return errno_error("open an epoll set");
  std::shared_ptr<Seat> seat(new Seat(options, std::move(epoll)));
  if (auto seated = seat->sit_down(); !seated) return seated.error();
  return seat;
}

Status Seat::sit_down() {
  const unsigned seats = options_.steering.seats;
  // Not always the lowest free one: peers of a process that died may go on sending to its QP numbers for a
  // while.
  const auto first = static_cast<unsigned>(::getpid());
  for (unsigned i = 0; i < seats; ++i) {
    index_ = (first + i) % seats;
    auto door = listen_local(seat_door(options_.udp_port, index_));
    if (!door && door.error().code == EADDRINUSE) continue;
    if (!door) return door.error();
    door_ = std::move(*door);
    watch(epoll_.get(), door_.get());
    return Done{};
  }
  return Error{EUSERS, "all " + std::to_string(seats) + " seats of UDP port " +
                           std::to_string(options_.udp_port) +
                           " are taken: that many processes use MRC on this host. More can use "
                           "another port (MRC_UDP_PORT), if their peers do so too"};
}

bool Seat::holds_endpoint(const SocketGroup& group, bool before) const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return before;
  for (const Place& place : places_)
    if (&place.group == &group) return place.endpoint.held();
  return false;
}

void Seat::serve() {
  // Busy means that group() is running in another thread, and it serves while it waits.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) serve_locked();
}

void Seat::serve_locked() {
  epoll_event events[16];
  const int n = ::epoll_wait(epoll_.get(), events, 16, 0);
  for (int i = 0; i < n; ++i) {
    const int fd = events[i].data.fd;
    const auto place = std::find_if(places_.begin(), places_.end(), [&](const Place& p) {
      return p.endpoint.door() == fd || p.endpoint.watch() == fd;
    });
    if (fd == door_.get() || (place != places_.end() && place->endpoint.door() == fd)) {
      accept_at(fd);
    } else if (place != places_.end()) {
      place->endpoint.on_watch();
    } else if (auto client =
                   std::find_if(clients_.begin(), clients_.end(), [&](const Fd& c) { return c.get() == fd; });
               client != clients_.end()) {
      hear(client);
    }
  }
}

void Seat::accept_at(int door) {
  if (clients_.size() >= kMaxClients) clients_.pop_front();
  Fd client(::accept4(door, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client) return;
  watch(epoll_.get(), client.get());
  clients_.push_back(std::move(client));
}

bool Seat::may_have_sockets(int client) const {
  const auto peer = peer_of(client);
  return peer && (options_.serve_all_users || is_trusted(*peer));
}

void Seat::hear(std::list<Fd>::iterator client) {
  SeatMessage request;
  const auto received = receive_message(client->get(), &request, sizeof request);
  if (!received || !request.known()) {
    clients_.erase(client);
  } else if (request.ask == SeatAsk::group) {
    answer_group(client->get(), request);
  } else if (request.ask == SeatAsk::endpoint && may_have_sockets(client->get())) {
    Place* place = find(request.bind, interface_of(request));
    if (place == nullptr || !place->endpoint.held()) return;
    place->endpoint.hand_over(client->get());
    clients_.clear();  // those that watched us find the new holder
    place->endpoint.seek();
  }
}

void Seat::answer_group(int client, const SeatMessage& request) {
  SeatMessage answer = request;
  answer.seats = options_.steering.seats;
  const Place* place = find(request.bind, interface_of(request));
  answer.error = !may_have_sockets(client) ? EPERM : place == nullptr ? ENOENT : 0;
  send_message(client, &answer, sizeof answer,
               answer.error == 0 ? place->group.descriptors() : std::vector<int>{});
}

Seat::Place* Seat::find(const Address& bind, const std::string& interface) {
  for (Place& place : places_)
    if (place.group.is(bind, interface)) return &place;
  return nullptr;
}

const SocketGroup* Seat::keep(SocketGroup group) {
  EndpointClaim endpoint(options_.udp_port, group.bind, group.interface, options_.endpoint, epoll_.get());
  return &places_.emplace_back(Place{std::move(group), std::move(endpoint)}).group;
}

/// MRC-NODE-005: at each address one process answers endpoint operations; the daemon before all others.
void Seat::claim(Place& place) {
  place.endpoint.seek();
  if (options_.endpoint == EndpointRole::insist && !place.endpoint.held() && wait_for(place.endpoint.watch()))
    place.endpoint.on_watch();
}

/// Waits for an answer while answering others, so that two processes that wait for each other both get on.
bool Seat::wait_for(int fd) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kAnswerTimeoutMs);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready[] = {{fd, POLLIN, 0}, {epoll_.get(), POLLIN, 0}};
    ::poll(ready, 2, static_cast<int>(left.count()));
    if (ready[0].revents != 0) return true;
    if (ready[1].revents != 0) serve_locked();
  }
}

/// One process at a time looks for a group and makes it. The lock's name is freed however its holder ends.
Result<Fd> Seat::lock_creation() {
  const std::string name = creation_lock(options_.udp_port);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kAnswerTimeoutMs);
  while (std::chrono::steady_clock::now() < end) {
    auto lock = listen_local(name);
    if (lock || lock.error().code != EADDRINUSE) return lock;
    auto holder = connect_local(name);  // breaks when the holder lets go
    if (!holder && is_out_of_descriptors(holder.error())) return holder.error();
    if (!holder) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // it has the name and does not listen yet
    } else if (!wait_for(holder->get())) {
      return Error{ETIMEDOUT, process(holder->get()) + " is opening the same UDP port and doesn't get on"};
    }
  }
  return Error{EBUSY,
               "too many processes are opening UDP port " + std::to_string(options_.udp_port) + " at once"};
}

Result<const SocketGroup*> Seat::group(const ReceiveSocketOptions& options) {
  const std::scoped_lock guard(mutex_);
  if (const Place* known = find(options.bind, options.interface)) return &known->group;
  const auto lock = lock_creation();
  if (!lock) return lock.error();
  auto group = fetch_or_make(options);
  if (!group) return group;
  const int own = (*group)->sockets[index_].get();
  detach_filter(own);  // of who sat here before, who may have been killed while it took everything
  configure_receive_socket(own, options);
  drain(own);
  claim(*find(options.bind, options.interface));
  return group;
}

Result<const SocketGroup*> Seat::fetch_or_make(const ReceiveSocketOptions& options) {
  // All seats that there can be: a process that counts seats differently must be found, not overlooked.
  for (unsigned seat = 0; seat < Steering::kMaxSeats; ++seat) {
    if (seat == index_) continue;
    const auto fetched = fetch(options, seat);
    if (!fetched) return fetched.error();
    if (*fetched) return &places_.back().group;
  }
  auto made = make_group(options, options_.steering);
  if (!made) return made.error();
  return keep(std::move(*made));
}

/// Asks the holder of one seat. False: nobody sits there, or he has no such sockets.
Result<bool> Seat::fetch(const ReceiveSocketOptions& options, unsigned seat) {
  const auto door = connect_local(seat_door(options_.udp_port, seat));
  // Not knowing whether somebody sits there, we must not make sockets of our own.
  if (!door && is_out_of_descriptors(door.error())) return door.error();
  if (!door) return false;
  const auto peer = peer_of(door->get());
  if (!peer || !is_trusted(*peer)) return false;  // if he has this address, the kernel won't let us bind it
  SeatMessage message{.seats = options_.steering.seats, .bind = options.bind};
  options.interface.copy(message.interface, sizeof message.interface);
  if (!send_message(door->get(), &message, sizeof message)) return false;
  if (!wait_for(door->get()))
    return Error{ETIMEDOUT, process(door->get()) + " shares UDP port " + std::to_string(options_.udp_port) +
                                " and doesn't answer: is it stopped?"};
  auto received = receive_message(door->get(), &message, sizeof message);
  if (!received && is_out_of_descriptors(received.error())) return received.error();
  if (!received || message.error != 0) return false;
  if (message.seats != options_.steering.seats ||
      received->descriptors.size() != options_.steering.seats + 1u)
    return Error{EPROTO, process(door->get()) + " shares the UDP port among " +
                             std::to_string(message.seats) + " seats, this process among " +
                             std::to_string(options_.steering.seats) + ": set the same number"};
  keep({options.bind, options.interface, std::move(received->descriptors)});
  return true;
}

}  // namespace mrc::port
