// Netlink messages as bytes: what emit_netlink and the lab write to NETLINK_ROUTE sockets.
#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace mrc::topo {

/// A growing run of messages, each asking for an answer; attributes are appended to the last one.
class NetlinkMessages {
 public:
  template <class Header>
  void begin(std::uint16_t type, std::uint16_t flags, const Header& header) {
    start_ = bytes_.size();
    nlmsghdr h{};
    h.nlmsg_type = type;
    h.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    h.nlmsg_seq = ++sequence_;
    append(&h, sizeof h);
    append(&header, sizeof header);
    align();
  }
  /// A header inside an attribute, before the attributes that it has in turn.
  template <class Header>
  void header(const Header& value) {
    append(&value, sizeof value);
    align();
  }
  void end() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() - start_);
    std::memcpy(&bytes_[start_], &length, sizeof length);
  }

  void attribute(std::uint16_t type, const void* data, std::size_t size) {
    rtattr a{static_cast<unsigned short>(RTA_LENGTH(size)), type};
    append(&a, sizeof a);
    append(data, size);
    align();
  }
  template <class T>
  void attribute(std::uint16_t type, const T& value) {
    attribute(type, &value, sizeof value);
  }
  template <class Fill>
  void nested(std::uint16_t type, Fill fill) {
    const std::size_t at = bytes_.size();
    rtattr a{0, type};
    append(&a, sizeof a);
    fill();
    const auto length = static_cast<unsigned short>(bytes_.size() - at);
    std::memcpy(&bytes_[at], &length, sizeof length);
  }
  /// struct rtnexthop, then its attributes.
  template <class Fill>
  void next_hop(unsigned index, Fill fill) {
    const std::size_t at = bytes_.size();
    rtnexthop hop{};
    hop.rtnh_ifindex = static_cast<int>(index);
    append(&hop, sizeof hop);
    fill();
    const auto length = static_cast<unsigned short>(bytes_.size() - at);
    std::memcpy(&bytes_[at], &length, sizeof length);
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void align() { bytes_.resize((bytes_.size() + 3) / 4 * 4); }

  std::vector<std::uint8_t> bytes_;
  std::size_t start_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace mrc::topo
