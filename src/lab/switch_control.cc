#include "lab/switch_control.h"

#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "port/local_socket.h"
#include "topo/spec.h"

namespace mrc::lab {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxLine = 256;
constexpr std::size_t kMaxAnswer = 1 << 18;
constexpr int kPatienceMs = 2000;

std::optional<std::uint16_t> find_port(const SoftSwitch& sw, const std::string& name) {
  for (std::uint16_t p = 0; p < sw.ports(); ++p) {
    if (sw.port(p).name == name) return p;
  }
  return std::nullopt;
}

std::string set_state(fabric::Link& link, const std::string& value) {
  using fabric::LinkState;
  if (value == "up") return link.set_state(LinkState::up), "ok";
  if (value == "down") return link.set_state(LinkState::down), "ok";
  if (value == "black_hole") return link.set_state(LinkState::black_hole), "ok";
  return "error: a state is up, down or black_hole";
}

std::string set_loss(fabric::Link& link, const std::string& value) {
  double loss = -1;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), loss);
  if (error != std::errc{} || stop != value.data() + value.size() || !(loss >= 0 && loss <= 1))
    return "error: a loss is a number from 0 to 1";
  link.set_loss(loss);
  return "ok";
}

std::string set_rate(fabric::Link& link, const std::string& value) {
  if (value == "default") return link.set_rate(link.settings().rate), "ok";
  const auto rate = topo::parse_rate(value);
  if (!rate || *rate < 1'000'000) return "error: a rate is such as 1G, at least 1M, or default";
  link.set_rate(fabric::Rate::bits_per_second(*rate));
  return "ok";
}

const char* state_name(fabric::LinkState s) {
  return s == fabric::LinkState::up ? "up" : s == fabric::LinkState::down ? "down" : "black_hole";
}

Json port_json(const SoftSwitch& sw, std::uint16_t p) {
  const fabric::Link& link = sw.fabric().port(p);
  const fabric::LinkCounters& c = link.counters();
  return {{"name", sw.port(p).name},
          {"state", state_name(link.state())},
          {"loss", link.loss()},
          {"bits_per_second", link.rate().is_unlimited() ? 0 : link.rate().bits_per_second()},
          {"packets", c.packets},
          {"bytes", c.bytes},
          {"control_packets", c.control_packets},
          {"marks", c.marks},
          {"trims", c.trims},
          {"drops", c.drops},
          {"losses", c.losses},
          {"max_depth", c.max_depth},
          {"depth", link.data_depth()},
          {"overrun", sw.port(p).port->counters().rx_overrun}};
}

}  // namespace

std::string stats_json(const SoftSwitch& sw) {
  Json fates, ports = Json::array();
  for (int i = 0; i < fabric::kFateCount; ++i) {
    const auto fate = static_cast<fabric::Fate>(i);
    if (sw.count(fate) != 0) fates[std::string(name(fate))] = sw.count(fate);
  }
  for (std::uint16_t p = 0; p < sw.ports(); ++p) ports.push_back(port_json(sw, p));
  const SoftSwitchCounters& c = sw.counters();
  const Json j = {{"received", c.received},
                  {"sent", c.sent},
                  {"out_of_frames", c.out_of_frames},
                  {"coalesced", c.coalesced},
                  {"not_segments", c.not_segments},
                  {"refused_by_port", c.refused_by_port},
                  {"solicitations", c.solicitations},
                  {"fates", fates.is_null() ? Json::object() : fates},
                  {"ports", ports}};
  return j.dump();
}

std::string obey(SoftSwitch& sw, std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string verb, port_name, value, more;
  words >> verb >> port_name >> value >> more;
  if (verb == "stats" && port_name.empty()) return stats_json(sw);
  if (!more.empty() || value.empty()) return "error: say state, loss or rate, a port and a value; or stats";
  const auto p = find_port(sw, port_name);
  if (!p)
    return "error: there is no port " + port_name + "; the first is " +
           (sw.ports() == 0 ? "none" : sw.port(0).name);
  fabric::Link& link = sw.fabric().port(*p);
  if (verb == "state") return set_state(link, value);
  if (verb == "loss") return set_loss(link, value);
  if (verb == "rate") return set_rate(link, value);
  return "error: " + verb + " is not known; say state, loss, rate or stats";
}

Result<SwitchControl> SwitchControl::open(const std::string& name) {
  auto listener = port::listen_local(name);
  if (!listener) return Error{listener.error().code, "control socket " + name + ": " + listener.error().what};
  return SwitchControl(std::move(*listener));
}

std::vector<int> SwitchControl::fds() const {
  std::vector<int> out{listener_.get()};
  for (const port::Fd& c : clients_) out.push_back(c.get());
  return out;
}

void SwitchControl::serve(SoftSwitch& sw) {
  while (clients_.size() < kMaxClients) {
    port::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) break;
    clients_.push_back(std::move(client));
  }
  std::erase_if(clients_, [&](const port::Fd& client) {
    char line[kMaxLine];
    const ssize_t n = ::recv(client.get(), line, sizeof line, MSG_DONTWAIT);
    if (n < 0) return errno != EAGAIN && errno != EINTR;
    if (n == 0) return true;
    const std::string answer = obey(sw, std::string_view(line, static_cast<std::size_t>(n)));
    return ::send(client.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
  });
}

Result<std::string> tell_switch(const std::string& name, const std::string& line) {
  auto fd = port::connect_local(name);
  if (!fd) return Error{fd.error().code, "no switch listens as " + name + " in this network namespace"};
  if (::send(fd->get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return port::errno_error("tell " + name);
  pollfd ready{fd->get(), POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) <= 0) return Error{ETIMEDOUT, name + " did not answer"};
  std::string answer(kMaxAnswer, '\0');
  const ssize_t n = ::recv(fd->get(), answer.data(), answer.size(), 0);
  if (n <= 0) return Error{n == 0 ? EPIPE : errno, name + " hung up"};
  answer.resize(static_cast<std::size_t>(n));
  if (answer.starts_with("error: ")) return Error{EINVAL, answer.substr(7)};
  return answer;
}

}  // namespace mrc::lab
