#include "port/netlink.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstring>

namespace mrc::port::netlink {
namespace {

constexpr int kAnswerTimeoutMs = 1000;

}  // namespace

Result<Fd> open(std::uint32_t groups) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd) return errno_error("open a netlink socket");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return errno_error("bind a netlink socket");
  return fd;
}

std::span<const std::byte> ask(int socket, std::span<const std::byte> question, std::span<std::byte> room) {
  if (!question.empty() && ::send(socket, question.data(), question.size(), 0) < 0) return {};
  pollfd ready{socket, POLLIN, 0};
  if (::poll(&ready, 1, kAnswerTimeoutMs) != 1) return {};
  const ssize_t size = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
  return room.first(size > 0 ? static_cast<std::size_t>(size) : 0);
}

Address address_from(std::span<const std::byte> bytes) {
  Address out;
  if (bytes.size() == 4) out.ip[10] = out.ip[11] = 0xFF;
  if (bytes.size() == 4 || bytes.size() == 16)
    std::memcpy(out.ip.data() + out.ip.size() - bytes.size(), bytes.data(), bytes.size());
  return out;
}

std::span<const std::byte> bytes_of(const Address& address) {
  return std::as_bytes(std::span(address.ip)).subspan(address.is_v4() ? 12 : 0);
}

}  // namespace mrc::port::netlink
