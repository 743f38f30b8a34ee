#include "port/udp_sender.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cstring>

#include "port/system_calls.h"

namespace mrc::port {
namespace {

/// One control message in a ready-made place; returns where the next one goes.
template <class T>
char* put_control(char* at, int level, int type, T value) {
  auto* header = reinterpret_cast<cmsghdr*>(at);
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(header), &value, sizeof value);
  return at + CMSG_SPACE(sizeof value);
}

void note_sent(std::span<const TxTrain> trains, Counters& counters) {
  for (const TxTrain& train : trains) {
    counters.tx_packets += train.packets;
    for (std::uint32_t i = 0; i < train.piece_count; ++i) counters.tx_bytes += train.pieces[i].iov_len;
  }
}

void discard(TxTrain& train, int error, Counters& counters) {
  train.error = error;
  counters.tx_discarded += train.packets;
}

}  // namespace

struct UdpSender::Message {
  union {
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(std::uint16_t))];
};

UdpSender::UdpSender(Options options)
    : options_(std::move(options)),
      v4_(options_.sockets.local.is_v4()),
      room_(options_.sockets.limit + options_.connected),
      sockets_(options_.sockets),
      connected_({.local = options_.sockets.local,
                  .interface = options_.sockets.interface,
                  .udp_port = options_.udp_port,
                  // A connected IPv4 socket numbers its packets, and the identification is part of the iCRC.
                  .limit = v4_ || !options_.sockets.flow_label ? 0 : options_.connected}),
      messages_(new Message[kMaxBurst]()),
      headers_(new mmsghdr[kMaxBurst]()) {
  for (std::size_t i = 0; i < kMaxBurst; ++i) {
    headers_[i].msg_hdr.msg_name = &messages_[i].v4;
    headers_[i].msg_hdr.msg_control = messages_[i].control;
  }
}

UdpSender::~UdpSender() = default;

int UdpSender::socket_for(std::uint16_t source_port) {
  if (source_port == options_.udp_port && options_.own_socket >= 0) return options_.own_socket;
  return sockets_.get(source_port);
}

int UdpSender::prepare(std::uint16_t source_port) {
  const int fd = socket_for(source_port);
  return fd < 0 ? -fd : 0;
}

int UdpSender::check(const TxTrain& train) const {
  if (train.packets == 0 || train.packets > kMaxTrain || train.packet_bytes == 0) return EINVAL;
  if (train.piece_count == 0 || train.piece_count > kMaxPieces || train.packet_bytes > 0xFFFF) return EINVAL;
  if (train.to == nullptr || train.to->is_v4() != v4_ || train.outer != nullptr) return EINVAL;
  return 0;
}

UdpSender::Way UdpSender::way_of(const TxTrain& train) {
  if (const int error = check(train); error != 0) return {-error, false};
  if (const int fd = connected_.find(train); fd >= 0) return {fd, true};
  return {socket_for(train.source_port), false};
}

// MRC-PORT-003: source port by the socket; flow label and class by message, or by a socket that has them.
void UdpSender::fill(std::size_t i, const TxTrain& train, bool connected) {
  Message& message = messages_[i];
  msghdr& header = headers_[i].msg_hdr;
  header.msg_iov = const_cast<iovec*>(train.pieces);
  header.msg_iovlen = train.piece_count;
  header.msg_namelen = connected ? 0 : v4_ ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  char* end = message.control;
  if (connected) {
  } else if (v4_) {
    fill_v4(message.v4, *train.to, options_.udp_port);
    end = put_control<int>(end, IPPROTO_IP, IP_TOS, train.tos);
  } else {
    fill_v6(message.v6, *train.to, options_.udp_port, options_.sockets.flow_label ? train.flow_label : 0);
    end = put_control<int>(end, IPPROTO_IPV6, IPV6_TCLASS, train.tos);
  }
  if (train.packets > 1)
    end = put_control(end, SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(train.packet_bytes));
  header.msg_controllen = static_cast<std::size_t>(end - message.control);
}

/// Whether `next` leaves by the socket that `first` does. It opens and closes none that the run could be
/// using.
bool UdpSender::joins(const TxTrain& first, const TxTrain& next, Way way) {
  if (next.source_port != first.source_port || check(next) != 0) return false;
  if (!way.connected) return connected_.find(next) < 0;
  return next.flow_label == first.flow_label && next.tos == first.tos && *next.to == *first.to;
}

/// How many trains from the front leave by one socket; their messages are filled in.
std::size_t UdpSender::gather(std::span<TxTrain> trains, Way way) {
  std::size_t n = 0;
  do {
    trains[n].error = 0;
    fill(n, trains[n], way.connected);
    ++n;
  } while (n < trains.size() && n < kMaxBurst && joins(trains[0], trains[n], way));
  return n;
}

std::size_t UdpSender::send(std::span<TxTrain> trains, Counters& counters) {
  blocked_fd_ = -1;
  std::size_t done = 0;
  while (done < trains.size() && blocked_fd_ < 0) {
    const auto rest = trains.subspan(done);
    if (const Way way = way_of(rest[0]); way.fd >= 0)
      done += push(way.fd, rest.first(gather(rest, way)), counters);
    else
      discard(trains[done++], -way.fd, counters);
  }
  return done;
}

namespace {

/// One message has cheaper calls than several; a connected socket's single packet in one piece the cheapest.
int send_messages(int fd, mmsghdr* messages, std::size_t count) {
  if (count > 1) return system_calls::sendmmsg(fd, messages, static_cast<unsigned>(count), MSG_DONTWAIT);
  const msghdr& m = messages->msg_hdr;
  const bool plain = m.msg_namelen == 0 && m.msg_controllen == 0 && m.msg_iovlen == 1;
  const ssize_t sent = plain ? system_calls::send(fd, m.msg_iov->iov_base, m.msg_iov->iov_len, MSG_DONTWAIT)
                             : system_calls::sendmsg(fd, &m, MSG_DONTWAIT);
  return sent < 0 ? -1 : 1;
}

}  // namespace

/// Sends the gathered messages; returns how many trains are dealt with and notes the socket if it is full.
std::size_t UdpSender::push(int fd, std::span<TxTrain> run, Counters& counters) {
  std::size_t done = 0;
  constexpr int kMaxRefusals = 4;
  int refusals = 0;
  while (done < run.size()) {
    const int sent = send_messages(fd, &headers_[done], run.size() - done);
    if (sent > 0) {
      note_sent(run.subspan(done, static_cast<std::size_t>(sent)), counters);
      done += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      blocked_fd_ = fd;
      return done;
    } else if (errno == ECONNREFUSED && ++refusals < kMaxRefusals) {
      // The peer's host said so of an earlier packet; this one hasn't been tried.
    } else if (errno != EINTR) {
      discard(run[done++], errno, counters);
    }
  }
  return done;
}

}  // namespace mrc::port
