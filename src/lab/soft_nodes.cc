#include "lab/soft_nodes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "lab/channel.h"
#include "lab/offspring.h"
#include "lab/switch_control.h"
#include "lab/switch_loop.h"
#include "lab/switch_plan.h"

namespace mrc::lab {
namespace {

Result<std::vector<SoftPort>> open_ports(const Wiring& wiring, topo::Node node) {
  const topo::Topology& topo = wiring.topology();
  std::vector<SoftPort> ports;
  for (std::uint32_t p = 0; p < topo.ports(node); ++p) {
    const auto peer = topo.peer({node, p});
    if (!peer)
      return Error{EINVAL, topo.name(node) + " " + topo.port_name({node, p}) +
                               " has no host: fill the fabric, or lower hosts_per_t0"};
    auto port =
        open_soft_port(topo.port_name({node, p}), link_settings(topo, {node, p}, wiring.settings().tuning),
                       {{topo.mac(*peer)}, topo.link_local(peer->node)});
    if (!port) return port.error();
    ports.push_back(std::move(*port));
  }
  return ports;
}

/// In the child. Says over `ready` that it forwards, or why not; returns when it can not.
Status serve(const Wiring& wiring, topo::Node node, int ready) {
  const topo::Topology& topo = wiring.topology();
  if (auto entered = enter_network_namespace(wiring.space(node)); !entered) return entered;
  hold_only({ready});  // not the lab's name, which shall be free when its keeper ends
  auto ports = open_ports(wiring, node);
  if (!ports) return ports.error();
  auto control = SwitchControl::open(switch_control_name(topo.name(node)));
  if (!control) return control.error();
  SoftSwitch sw(switch_settings(topo, node, wiring.settings().tuning), std::move(*ports));
  if (auto said = send_answer(ready, {}, {}); !said) return said;
  run_switch(sw, &*control, -1, {});
  return Done{};
}

Status start(const Wiring& wiring, topo::Node node) {
  const auto child = fork_with_channel();
  if (!child) return child.error();
  const int channel = child->channel.get();
  if (child->pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto served = serve(wiring, node, channel);
    if (!served) (void)send_answer(channel, {served.error().code, served.error().what, {}}, {});
    ::_exit(1);
  }
  const auto answer = receive_answer(channel);
  if (!answer) return Error{EIO, "the switch of " + wiring.topology().name(node) + " died at once"};
  return answer->code == 0 ? Status(Done{}) : Error{answer->code, answer->text};
}

}  // namespace

std::string switch_control_name(const std::string& node) { return "mrc-switch-" + node; }

Status start_soft_nodes(const Wiring& wiring) {
  for (const topo::Node node : wiring.nodes()) {
    if (!wiring.is_soft(node)) continue;
    if (auto started = start(wiring, node); !started) return started;
  }
  return Done{};
}

Result<std::string> tell_node(const Wiring& wiring, topo::Node node, const std::string& line) {
  if (auto entered = enter_network_namespace(wiring.space(node)); !entered) return entered.error();
  auto answer = tell_switch(switch_control_name(wiring.topology().name(node)), line);
  if (answer && answer->starts_with("error: ")) return Error{EINVAL, answer->substr(7)};
  return answer;
}

}  // namespace mrc::lab
