// UDP sockets as MRC needs them: which options a sending and a receiving socket carry, and why.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <string>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::port {

// In kernel headers that can't be included beside <netinet/in.h>.
inline constexpr int kIpv6FlowInfo = 11;      // receive: a control message with class and flow label
inline constexpr int kIpv6FlowInfoSend = 33;  // send: sin6_flowinfo is obeyed

enum class Sharing : std::uint8_t { exclusive, reuse_port };

struct ReceiveSocketOptions {
  Address bind;  // may be unspecified: all addresses of the host
  std::uint16_t udp_port = 4791;
  std::string interface;  // not empty: only what arrives there
  Sharing sharing = Sharing::exclusive;
  std::uint32_t buffer = 32u << 20;  // asked for; the kernel grants net.core.rmem_max without privileges
  bool timestamps = false;
  bool doorbell = true;  // as UdpPortOptions has them
  bool mailbox = true;
};

/// Bound, non-blocking, coalescing (UDP_GRO), and telling class, flow label, destination and overruns.
Result<Fd> open_receive_socket(const ReceiveSocketOptions& options);
/// The same options on a socket that another process opened.
void configure_receive_socket(int fd, const ReceiveSocketOptions& options);

/// Bound to one of our addresses and a source port that names an EV; shares it with other processes that send
/// by that EV, and takes nothing in. The error's code is the plain errno, for TxTrain::error.
Result<Fd> open_send_socket(const Address& local, std::uint16_t source_port, const std::string& interface,
                            bool flow_label);

/// Asks for a receive buffer of this size: more than net.core.rmem_max only with privileges.
void size_receive_buffer(int fd, std::uint32_t bytes);
/// Bytes of truesize that the kernel will queue on this socket.
std::uint64_t receive_buffer_of(int fd);
/// Messages that this socket has ever dropped, modulo 2^32.
std::uint32_t drops_of(int fd);
void detach_filter(int fd);
/// Whether an IPv6 socket here may send a flow label that nobody leased.
bool can_send_flow_label(const Address& local);
/// Lowest UDP port that this process may bind.
std::uint16_t lowest_bindable_port();
Status attach_reuse_port_program(int fd, std::span<const sock_filter> program);

}  // namespace mrc::port
