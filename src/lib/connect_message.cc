#include "lib/connect_message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/counted.h"
#include "lib/discovery.h"
#include "wire/bytes.h"

namespace mrc::lib::connect {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic = {'o', 'M', 'R', 'C'};
constexpr std::size_t kFixed = 4 + 2 + 2 + 16 + 1 + 1 + 2 + 1 + 4 + 4;
constexpr std::size_t kQpBytes = 8;
constexpr std::size_t kVersions = 8;  // magic and the two version numbers
enum Flags : std::uint8_t { kDynamicMpr = 1, kTrimNack = 2, kServiceTime = 4 };

Error broken(const char* what) {
  return {EPROTO,
          std::string("the peer's greeting is broken (") + what + "): is it another program at that port?"};
}

}  // namespace

Message emit(Type type, std::span<const std::uint8_t> body) {
  Message out(1 + body.size());
  out[0] = static_cast<std::uint8_t>(type);
  std::copy(body.begin(), body.end(), out.begin() + 1);
  return out;
}

Message emit(const Hello& h) {
  Message out(1 + kFixed + h.qps.size() * kQpBytes);
  out[0] = static_cast<std::uint8_t>(Type::hello);
  std::uint8_t* at = out.data() + 1;
  std::copy(kMagic.begin(), kMagic.end(), at);
  wire::store16(at + 4, h.version);
  wire::store16(at + 6, h.oldest);
  std::copy(h.gid.begin(), h.gid.end(), at + 8);
  at[24] = h.mtu;
  at[25] = h.mpr_dest;
  wire::store16(at + 26, h.max_wimm_dest);
  at[28] = static_cast<std::uint8_t>((h.dynamic_mpr ? kDynamicMpr : 0) | (h.trim_nack ? kTrimNack : 0) |
                                     (h.service_time ? kServiceTime : 0));
  wire::store32(at + 29, static_cast<std::uint32_t>(h.qps.size()));
  wire::store32(at + 33, static_cast<std::uint32_t>(h.data.size()));
  at += kFixed;
  for (const QpName& qp : h.qps) {
    wire::store32(at, qp.qpn);
    wire::store32(at + 4, qp.psn);
    at += kQpBytes;
  }
  out.insert(out.end(), h.data.begin(), h.data.end());
  return out;
}

Result<Hello> parse_hello(std::span<const std::uint8_t> b) {
  if (b.size() < kVersions || !std::equal(kMagic.begin(), kMagic.end(), b.begin())) return broken("magic");
  Hello h;
  h.version = wire::load16(&b[4]);
  h.oldest = wire::load16(&b[6]);
  if (h.oldest > kVersion || h.version < kOldestVersion) return h;
  if (b.size() < kFixed) return broken("length");
  std::copy_n(b.begin() + 8, 16, h.gid.begin());
  h.mtu = b[24];
  h.mpr_dest = b[25];
  h.max_wimm_dest = wire::load16(&b[26]);
  h.dynamic_mpr = (b[28] & kDynamicMpr) != 0;
  h.trim_nack = (b[28] & kTrimNack) != 0;
  h.service_time = (b[28] & kServiceTime) != 0;
  const std::size_t qps = wire::load32(&b[29]);
  const std::size_t data = wire::load32(&b[33]);
  if (qps > kMaxMessage || data > kMaxMessage || b.size() != kFixed + qps * kQpBytes + data)
    return broken("counts");
  for (std::size_t i = 0; i < qps; ++i) {
    const std::uint8_t* at = &b[kFixed + i * kQpBytes];
    h.qps.push_back({wire::load32(at), wire::load32(at + 4)});
  }
  h.data.assign(b.end() - static_cast<std::ptrdiff_t>(data), b.end());
  return h;
}

Result<Agreement> agree(const Hello& ours, const Hello& theirs, const Limits& limits) {
  if (theirs.oldest > ours.version) {
    return Error{EPROTONOSUPPORT, "the peer speaks connection protocol " + std::to_string(theirs.oldest) +
                                      " and newer, this side up to " + std::to_string(ours.version) +
                                      ": update this side"};
  }
  if (theirs.version < ours.oldest) {
    return Error{EPROTONOSUPPORT, "the peer speaks connection protocol up to " +
                                      std::to_string(theirs.version) + ", this side " +
                                      std::to_string(ours.oldest) + " and newer: update the peer"};
  }
  if (ours.qps.size() != theirs.qps.size()) {
    return Error{EINVAL, "this side brings " + counted(ours.qps.size(), "queue pair") + ", the peer " +
                             std::to_string(theirs.qps.size()) + ": both must bring the same number"};
  }
  if (is_v4(ours.gid) != is_v4(theirs.gid)) {
    return Error{
        EAFNOSUPPORT,
        std::string("this side's GID is ") + (is_v4(ours.gid) ? "IPv4" : "IPv6") +
            ", the peer's is not: name addresses of one kind on both sides, as in MRC_DEVICES=eth0/10.0.0.1"};
  }
  if (theirs.mpr_dest < engine::kMinMpr) {
    return Error{EINVAL, "the peer accepts an MPR of " + std::to_string(theirs.mpr_dest) + " units, and " +
                             std::to_string(engine::kMinMpr) + " is the least: raise mpr_dest there"};
  }
  if (theirs.max_wimm_dest == 0) {
    return Error{EINVAL,
                 "the peer accepts no immediate in flight, and 1 is the least: raise max_wimm_dest there"};
  }
  if (theirs.mtu < 1 || theirs.mtu > 5) return Error{EPROTO, "the peer names a path MTU that does not exist"};
  Agreement a;
  a.mtu = std::min(ours.mtu, theirs.mtu);
  a.mpr = std::min(limits.max_mpr, theirs.mpr_dest);
  a.max_wimm = std::min(limits.max_wimm, theirs.max_wimm_dest);
  a.dynamic_mpr = ours.dynamic_mpr && theirs.dynamic_mpr;
  a.peer_trim_nack = theirs.trim_nack;
  a.peer_service_time = theirs.service_time;
  return a;
}

}  // namespace mrc::lib::connect
