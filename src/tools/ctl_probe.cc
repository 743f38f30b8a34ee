// `mrc ctl probe`: is that path alive, and how far is it? EV probes to another node's device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/json.h"
#include "port/address.h"
#include "tools/ctl_context.h"
#include "tools/ctl_names.h"
#include "tools/real_range.h"

namespace mrc::tools {
namespace {

constexpr std::size_t kSourcePortText = 6;  // 0x and 16 bits

struct ProbeOptions {
  std::string device, to;
  std::vector<std::string> evs{"0xee48"};
  unsigned port = 1, count = 4;
  double timeout_ms = 1000;
};

struct Line {
  std::string ev;
  unsigned sent = 0, answered = 0;
  std::uint64_t least = UINT64_MAX, most = 0, sum = 0;
};

Result<std::vector<mrc_ctl_ep_req>> make_requests(const ProbeOptions& o) {
  const auto to = port::parse_address(o.to);
  if (!to) return to.error();
  std::vector<mrc_ctl_ep_req> requests;
  for (unsigned round = 0; round < o.count; ++round) {
    for (const std::string& text : o.evs) {
      const auto bits = ev_bits(text);
      if (!bits || text.size() != kSourcePortText)
        return Error{EINVAL, "'" + text + "' is no source port: write four hex digits, as in 0xee48"};
      mrc_ctl_ep_req& req = requests.emplace_back();
      req = {};
      req.req_id = static_cast<std::uint16_t>(requests.size() - 1);
      std::copy(to->ip.begin(), to->ip.end(), req.dgid.raw);
      req.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
      std::copy(bits->begin(), bits->end(), req.req_ev.val);
      req.req_ev.port = static_cast<std::uint8_t>(o.port);
    }
  }
  return requests;
}

std::vector<Line> sum_up(const ProbeOptions& o, std::span<const mrc_ctl_ep_rsp> answers) {
  std::vector<Line> lines;
  for (const std::string& ev : o.evs) lines.push_back({.ev = ev, .sent = o.count});
  for (const mrc_ctl_ep_rsp& answer : answers) {
    Line& line = lines[answer.req_id % lines.size()];
    ++line.answered;
    line.least = std::min<std::uint64_t>(line.least, answer.rtt);
    line.most = std::max<std::uint64_t>(line.most, answer.rtt);
    line.sum += answer.rtt;
  }
  return lines;
}

void print_json(const ProbeOptions& o, const std::vector<Line>& lines) {
  JsonWriter json;
  json.begin_object().field("to", o.to).field("port", o.port).begin_array("evs");
  for (const Line& line : lines) {
    json.begin_object()
        .field("ev", line.ev)
        .field("sent", line.sent)
        .field("lost", line.sent - line.answered);
    if (line.answered > 0) {
      json.field("rtt_min_ns", line.least)
          .field("rtt_avg_ns", line.sum / line.answered)
          .field("rtt_max_ns", line.most);
    }
    json.end_object();
  }
  std::puts(json.end_array().end_object().text().c_str());
}

void print_table(const std::vector<Line>& lines) {
  std::printf("%-18s %5s %5s %12s %12s %12s\n", "EV", "SENT", "LOST", "RTT MIN US", "AVG US", "MAX US");
  for (const Line& line : lines) {
    std::printf("%-18s %5u %5u ", line.ev.c_str(), line.sent, line.sent - line.answered);
    if (line.answered == 0) {
      std::printf("%12s %12s %12s\n", "-", "-", "-");
      continue;
    }
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
    std::printf("%12.1f %12.1f %12.1f\n", us(line.least), us(line.sum) / line.answered, us(line.most));
  }
}

int run(const CtlOptions& options, const ProbeOptions& o) {
  auto requests = make_requests(o);
  if (!requests) return ctl_fail(requests.error());
  auto context = CtlContext::open(options, o.device, false);
  if (!context) return ctl_fail(context.error());
  mrc_ctl_port_attr port{};
  if (mrc_ctl_query_port(context->get(), static_cast<std::uint8_t>(o.port), &port,
                         MRC_CTL_PORT_ADMIN_STATE) != 0 &&
      errno == EINVAL) {
    return ctl_fail({EINVAL, "the device has no port " + std::to_string(o.port)});
  }
  std::vector<mrc_ctl_ep_rsp> answers(requests->size());
  int count = 0;
  const auto timeout = static_cast<std::uint32_t>(o.timeout_ms * 1e6);
  const int result =
      mrc_ctl_ep_batch_send_wait(context->get(), 0, MRC_CTL_EP_OP_EV_PROBE, requests->data(),
                                 static_cast<int>(requests->size()), timeout, answers.data(), &count);
  if (result != 0 && errno != ETIMEDOUT) return ctl_fail(ctl_error("probe " + o.to, errno));
  const auto lines =
      sum_up(o, std::span(answers).first(static_cast<std::size_t>(result != 0 && count < 0 ? 0 : count)));
  options.json ? print_json(o, lines) : print_table(lines);
  const bool any =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.answered > 0; });
  return any ? 0
             : ctl_fail({ETIMEDOUT, o.to + " answers no probe: is a device there, and is UDP let through?"});
}

}  // namespace

Run ctl_probe(CLI::App& app, const std::shared_ptr<CtlOptions>& options) {
  auto o = std::make_shared<ProbeOptions>();
  app.add_option("to", o->to, "the address of the other node's port")->required()->type_name("ADDRESS");
  app.add_option("--ev", o->evs, "EVs to try: source ports in hex (0xee48)")->type_name("EV...");
  app.add_option("--port", o->port, "leave by this port (1)")->check(CLI::Range(1, 31));
  app.add_option("--count", o->count, "probes for each EV (4)")->check(CLI::Range(1, 64));
  app.add_option("--timeout", o->timeout_ms, "milliseconds to wait (1000)")->check(real_range(0.1, 4000.0));
  app.add_option("--device", o->device, "from this device; not needed when there is one")->type_name("NAME");
  app.footer("Example: mrc ctl probe 10.0.0.2 --ev 0xee48 0xee49");
  return [options, o] { return run(*options, *o); };
}

}  // namespace mrc::tools
