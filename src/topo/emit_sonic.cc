// SONiC: config_db.json with static SRv6 uSID and static routes, two classes, ECN, and trimming instead of
// tail drop.
#include <nlohmann/json.hpp>

#include "topo/emit.h"

namespace mrc::topo {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDataQueue = "3";
constexpr const char* kControlQueue = "6";

class Sonic {
 public:
  Sonic(const NodeConfig& node, const SonicSettings& settings) : node_(node), set_(settings) {}

  Json write() {
    db_["DEVICE_METADATA"]["localhost"] = {{"hostname", node_.name}, {"type", "not-provisioned"}};
    write_ports();
    write_sids();
    for (const auto* routes : {&node_.sid_routes, &node_.plain_routes}) {
      for (const StaticRoute& r : *routes) write_route(r);
    }
    write_classes();
    write_queues();
    return db_;
  }

 private:
  std::string port_name(std::uint32_t port) const {
    return "Ethernet" + std::to_string(port * set_.lanes_per_port);
  }
  std::string port_of(const std::string& interface) const {
    for (const InterfaceConfig& i : node_.interfaces) {
      if (i.name == interface) return port_name(i.port);
    }
    return interface;
  }

  void write_ports() {
    for (const InterfaceConfig& i : node_.interfaces) {
      const std::string port = port_name(i.port);
      db_["PORT"][port] = {{"admin_status", "up"},
                           {"alias", i.name},
                           {"description", i.peer},
                           {"speed", std::to_string(i.bits_per_second / 1'000'000)}};
      db_["INTERFACE"][port] = {{"ipv6_use_link_local_only", "enable"}};
      db_["INTERFACE"][port + "|" + to_string(i.link_local) + "/64"] = Json::object();
    }
  }

  void write_sids() {
    for (const LocalSid& sid : node_.sids) {
      db_["SRV6_MY_LOCATORS"]["MRC"] = {{"prefix", to_string(sid.prefix.address)},
                                        {"block_len", std::to_string(node_.locator_bits)},
                                        {"node_len", "16"},
                                        {"func_len", "0"},
                                        {"arg_len", "0"}};
      db_["SRV6_MY_SIDS"]["MRC|" + to_string(sid.prefix)] = {{"action", "uN"}, {"decap_dscp_mode", "pipe"}};
    }
  }

  void write_route(const StaticRoute& r) {
    std::string via, ports, zeros, falses, vrfs;
    for (const NextHop& n : r.next_hops) {
      const char* comma = via.empty() ? "" : ",";
      via += comma + to_string(n.via);
      ports += comma + port_of(n.interface);
      zeros += std::string(comma) + "0";
      falses += std::string(comma) + "false";
      vrfs += std::string(comma) + "default";
    }
    db_["STATIC_ROUTE"]["default|" + to_string(r.prefix)] = {{"nexthop", via},
                                                             {"ifname", ports},
                                                             {"distance", zeros},
                                                             {"blackhole", falses},
                                                             {"nexthop-vrf", vrfs}};
  }

  void map_dscp(std::uint8_t dscp, const char* queue) {
    db_["DSCP_TO_TC_MAP"]["MRC"][std::to_string(dscp)] = queue;
  }

  void write_classes() {
    for (const auto dscp : {set_.dscp_no_trim, set_.dscp_trimmable, set_.dscp_trimmable_retx})
      map_dscp(dscp, kDataQueue);
    for (const auto dscp : {set_.dscp_control, set_.dscp_trimmed, set_.dscp_trimmed_lasthop})
      map_dscp(dscp, kControlQueue);
    db_["TC_TO_QUEUE_MAP"]["MRC"] = {{kDataQueue, kDataQueue}, {kControlQueue, kControlQueue}};
    // A trimmed frame's class depends on whether its port leads to a host: by traffic class, through a map
    // per port.
    db_["TC_TO_DSCP_MAP"]["MRC_FABRIC"][kControlQueue] = std::to_string(set_.dscp_trimmed);
    db_["TC_TO_DSCP_MAP"]["MRC_HOST"][kControlQueue] = std::to_string(set_.dscp_trimmed_lasthop);
    db_["SWITCH_TRIMMING"]["GLOBAL"] = {{"size", std::to_string(set_.trim_bytes)},
                                        {"dscp_value", "from-tc"},
                                        {"tc_value", kControlQueue},
                                        {"queue_index", kControlQueue}};
    db_["SCHEDULER"]["MRC_CONTROL"] = {{"type", "STRICT"}};
    db_["SCHEDULER"]["MRC_DATA"] = {{"type", "DWRR"}, {"weight", "100"}};
    db_["WRED_PROFILE"]["MRC"] = {{"ecn", "ecn_all"},
                                  {"wred_green_enable", "true"},
                                  {"green_min_threshold", std::to_string(set_.ecn_low)},
                                  {"green_max_threshold", std::to_string(set_.ecn_high)},
                                  {"green_drop_probability", std::to_string(set_.ecn_percent)}};
    db_["BUFFER_POOL"]["egress_lossy_pool"] = {{"mode", "static"}, {"type", "egress"}};
    db_["BUFFER_PROFILE"]["MRC_DATA"] = {{"pool", "egress_lossy_pool"},
                                         {"size", "0"},
                                         {"static_th", std::to_string(set_.data_limit)},
                                         {"packet_discard_action", "trim"}};
  }

  void write_queues() {
    for (const InterfaceConfig& i : node_.interfaces) {
      const std::string port = port_name(i.port), data = port + "|" + kDataQueue,
                        control = port + "|" + kControlQueue;
      db_["PORT_QOS_MAP"][port] = {{"dscp_to_tc_map", "MRC"},
                                   {"tc_to_queue_map", "MRC"},
                                   {"tc_to_dscp_map", i.toward_host ? "MRC_HOST" : "MRC_FABRIC"}};
      db_["QUEUE"][control] = {{"scheduler", "MRC_CONTROL"}};
      db_["QUEUE"][data] = {{"scheduler", "MRC_DATA"}};
      // ECN is off toward hosts: there the queue is the receiver's, not the path's.
      if (!i.toward_host) db_["QUEUE"][data]["wred_profile"] = "MRC";
      db_["BUFFER_QUEUE"][data] = {{"profile", "MRC_DATA"}};
    }
  }

  const NodeConfig& node_;
  const SonicSettings& set_;
  Json db_;
};

}  // namespace

std::string emit_sonic(const NodeConfig& node, const SonicSettings& settings) {
  return Sonic(node, settings).write().dump(2) + "\n";
}

}  // namespace mrc::topo
