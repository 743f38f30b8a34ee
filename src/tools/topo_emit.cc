// `mrc topo emit`: configurations to standard output, to files, or straight into the kernel.
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/topo_verbs.h"
#include "topo/emit.h"

namespace mrc::tools {
namespace {

using topo::Node;
using topo::Tier;
using topo::Topology;

constexpr std::uint32_t kMostProfiles = 4096;  // on one go; name a destination in a larger fabric

Result<std::string> netlink_text(const topo::NodeConfig& node) {
  const auto bytes = topo::emit_netlink(node, [](const std::string& n) { return if_nametoindex(n.c_str()); });
  if (!bytes)
    return Error{bytes.error().code,
                 bytes.error().what +
                     " here; a netlink batch names interfaces by index, so write it on the node itself"};
  return std::string(bytes->begin(), bytes->end());
}

/// "p0.t1.3=0.25", for one pair of hosts.
Result<topo::SlowEvs> read_slow(const Topology& t, const std::string& text, const std::string& from,
                                const std::string& to) {
  const auto equals = text.find('=');
  char* end = nullptr;
  const double part = equals == std::string::npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
  if (!(part > 0 && part <= 1) || *end != '\0')
    return Error{EINVAL, "--slow " + text +
                             ": say what is slow and what part of its speed it has, as in p0.t1.3=0.25"};
  const auto evs = touched(t, {.name = text.substr(0, equals), .from = from, .to = to});
  if (!evs) return evs.error();
  return topo::SlowEvs{*evs, part};
}

Result<std::string> profile_text(const Topology& t, topo::HostId source, topo::HostId to,
                                 const EmitQuery& q) {
  std::vector<topo::SlowEvs> slow;
  for (const std::string& text : q.slow) {
    const auto one = read_slow(t, text, t.name(topo::host_node(source)), t.name(topo::host_node(to)));
    if (!one) return one.error();
    slow.push_back(*one);
  }
  return topo::emit_ev_profile(t, source, to, q.per_plane, slow);
}

Result<std::string> profiles_text(const Topology& t, topo::HostId source, const EmitQuery& q) {
  if (t.usids_per_carrier() < static_cast<int>(2 * t.tiers()))
    return Error{
        EINVAL,
        "paths need a second carrier with this locator; profiles are for one: use a locator of 32 bits"};
  if (!q.to.empty()) {
    const auto to = find_host(t, q.to);
    if (!to) return to.error();
    const auto profile = profile_text(t, source, *to, q);
    if (!profile) return profile.error();
    return topo::emit_ev_format(t, source, *to) + *profile;
  }
  if (t.hosts() > kMostProfiles)
    return Error{E2BIG, std::to_string(t.hosts()) + " destinations; name one with --to"};
  std::string out;
  for (std::uint32_t h = 0; h < t.hosts(); ++h) {
    const topo::HostId to(h);
    if (to == source) continue;
    if (out.empty()) out = topo::emit_ev_format(t, source, to);
    const auto profile = profile_text(t, source, to, q);
    if (!profile) return profile.error();
    out += *profile;
  }
  return out;
}

Result<std::string> text_for(const Topology& t, Node node, const EmitQuery& q) {
  const bool host = node.tier == Tier::host;
  if (host && (q.format == "frr" || q.format == "sonic"))
    return Error{EINVAL, t.name(node) + " is a host; " + q.format + " configures switches"};
  if (!host && q.format == "profiles")
    return Error{EINVAL, t.name(node) + " is a switch; EV profiles are for hosts"};
  if (q.format == "profiles") return profiles_text(t, topo::HostId(node.index), q);
  const topo::NodeConfig config = topo::node_config(t, node);
  if (q.format == "iproute2") return topo::emit_iproute2(config);
  if (q.format == "netlink") return netlink_text(config);
  if (q.format == "frr") return topo::emit_frr(config);
  return topo::emit_sonic(config, {.lanes_per_port = q.lanes});
}

/// Sends one message and reads its acknowledgement; 0 or an errno.
int exchange(int fd, const char* message, std::size_t size) {
  char reply[8192];
  if (send(fd, message, size, 0) < 0) return errno;
  const ssize_t got = recv(fd, reply, sizeof reply, 0);
  if (got < 0) return errno;
  nlmsgerr error{};
  if (static_cast<std::size_t>(got) < sizeof(nlmsghdr) + sizeof error) return EPROTO;
  std::memcpy(&error, reply + sizeof(nlmsghdr), sizeof error);
  return -error.error;
}

Status apply(const std::string& batch) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return Error{errno, std::string("no netlink socket: ") + strerror(errno)};
  int failed = 0;
  std::uint32_t at_message = 0;
  for (std::size_t at = 0; failed == 0 && at < batch.size();) {
    nlmsghdr h;
    std::memcpy(&h, &batch[at], sizeof h);
    failed = exchange(fd, &batch[at], h.nlmsg_len);
    at_message = h.nlmsg_seq;
    at += h.nlmsg_len;
  }
  close(fd);
  if (failed == 0) return Done{};
  return Error{failed, "message " + std::to_string(at_message) + " was refused: " + strerror(failed) +
                           (failed == EPERM ? "; run it as root, or in a namespace of your own" : "")};
}

const char* suffix(const std::string& format) {
  return format == "iproute2"  ? ".sh"
         : format == "netlink" ? ".nl"
         : format == "frr"     ? ".conf"
         : format == "sonic"   ? ".json"
                               : ".jsonl";
}

Status write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{errno, path.string() + " can not be written"};
  return Done{};
}

Status write_all(const Topology& t, const EmitQuery& q) {
  std::error_code error;
  std::filesystem::create_directories(q.directory, error);
  if (error) return Error{error.value(), q.directory + ": " + error.message()};
  const auto write = [&](Node n) -> Status {
    const auto text = text_for(t, n, q);
    if (!text) return text.error();
    return write_file(std::filesystem::path(q.directory) / (t.name(n) + suffix(q.format)), *text);
  };
  const bool switches = q.format != "profiles", hosts = q.format == "profiles" || q.format == "iproute2";
  for (std::uint32_t i = 0; switches && i < t.switches(); ++i) {
    if (auto done = write(t.switch_at(i)); !done) return done;
  }
  for (std::uint32_t h = 0; hosts && h < t.hosts(); ++h) {
    if (auto done = write(topo::host_node(topo::HostId(h))); !done) return done;
  }
  return Done{};
}

}  // namespace

Status emit(const Topology& t, const EmitQuery& q) {
  if (q.node.empty() == q.directory.empty())
    return Error{EINVAL, "say --node NAME for one node, or --out DIRECTORY for all"};
  if (!q.directory.empty() && q.format == "netlink")
    return Error{EINVAL,
                 "a netlink batch names interfaces by index: write it on the node itself, with --node"};
  if (!q.directory.empty()) return write_all(t, q);
  const auto node = t.find_node(q.node);
  if (!node) return Error{ENOENT, "there is no node " + q.node + "; names look like h0, p0.t0.0, p0.t1.0"};
  const auto text = text_for(t, *node, q);
  if (!text) return text.error();
  if (q.apply && q.format == "netlink") return apply(*text);
  std::fwrite(text->data(), 1, text->size(), stdout);
  return Done{};
}

}  // namespace mrc::tools
