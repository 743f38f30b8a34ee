#include "tools/conform_remote.h"

#include <cerrno>

#include "conform/agent_text.h"
#include "lib/connect_socket.h"

namespace mrc::tools {
namespace {

constexpr int kPatienceMs = 10'000;

}  // namespace

Result<std::unique_ptr<AgentDevice>> AgentDevice::open(const std::string& host, const std::string& service,
                                                       const std::string& tester) {
  auto socket =
      lib::connect::connect_tcp(host.c_str(), service.c_str(), lib::connect::deadline_after(kPatienceMs));
  if (!socket) {
    return Error{socket.error().code, socket.error().what + "; does `mrc conform device` run there?"};
  }
  std::unique_ptr<AgentDevice> device(new AgentDevice(LineSocket(*std::move(socket)), tester));
  const auto words = device->ask("abilities");
  if (!words) return words.error();
  const auto has = [&](const char* word) {
    return (" " + *words + " ").find(std::string(" ") + word + " ") != std::string::npos;
  };
  device->abilities_ = {true, has("post"), has("completions"), has("memory"), has("deny"), has("congestion")};
  return device;
}

Result<std::string> AgentDevice::ask(const std::string& line) {
  if (auto sent = socket_.send(line, kPatienceMs); !sent) return sent.error();
  auto answer = socket_.receive(8 * conform::kLongestLine, kPatienceMs);
  if (!answer) return Error{answer.error().code, "the device's agent: " + answer.error().what};
  if (*answer == "ok") return std::string();
  if (answer->starts_with("ok ")) return answer->substr(3);
  const std::string why = answer->starts_with("error ") ? answer->substr(6) : *answer;
  return Error{EIO, "the device's agent says: " + why.substr(0, 200)};
}

Result<conform::Target> AgentDevice::connect(const conform::Terms& terms) {
  const auto answer = ask(to_text(conform::ConnectRequest{terms, tester_}));
  if (!answer) return answer.error();
  return conform::parse_target(*answer);
}

Status AgentDevice::post(const std::vector<conform::PostedWrite>& writes) {
  const auto answer = ask("post " + to_text(writes));
  return answer ? Status(Done{}) : Status(answer.error());
}

Result<std::vector<conform::Completed>> AgentDevice::completions() {
  const auto answer = ask("completions");
  if (!answer) return answer.error();
  return conform::parse_completions(*answer);
}

Result<std::vector<std::uint8_t>> AgentDevice::memory(std::uint32_t offset, std::uint32_t length) {
  const auto answer = ask("memory " + std::to_string(offset) + " " + std::to_string(length));
  if (!answer) return answer.error();
  auto bytes = conform::parse_hex(*answer);
  if (bytes && bytes->size() != length)
    return Error{EPROTO, "the device's agent sent another number of bytes"};
  return bytes;
}

Status AgentDevice::deny(Ev ev) {
  const auto answer = ask("deny " + std::to_string(ev.value));
  return answer ? Status(Done{}) : Status(answer.error());
}

Result<conform::Target> NumberedDevice::connect(const conform::Terms&) {
  if (next_ == qpns_.size()) return Error{ENOENT, "no QP left: each --qpn serves one check"};
  conform::Target target = like_;
  target.qpn = Qpn(qpns_[next_++]);
  return target;
}

}  // namespace mrc::tools
