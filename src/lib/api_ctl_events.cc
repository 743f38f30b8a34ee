// mrc_ctl.h: EV events and endpoint operations.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>

#include "lib/api_objects.h"
#include "lib/ctl_values.h"
#include "lib/privilege.h"
#include "node/expansion.h"

using namespace mrc::lib;
using namespace mrc;

namespace {

constexpr int kMostDscp = 63;

// MRC-API-002: a program of 1.0.0 has the structure without its last field, and polls arrays of those.
std::size_t event_size(const mrc_context& context) {
  return context.api_version >= MRC_API_VER(1, 0, 1) ? sizeof(mrc_ctl_ev_event)
                                                     : offsetof(mrc_ctl_ev_event, state);
}

void write_event(const node::EvEvent& event, std::size_t size, void* to) {
  mrc_ctl_ev_event out{};
  out.profile_id = event.profile;
  out.ev = from_value(event.value);
  out.drop_count = event.dropped;
  out.state = from_ev_state(event.state);
  std::memcpy(to, &out, size);
}

bool is_own(const Device& device, PortId port, const Gid& gid) {
  const auto table = device.gids(port);
  return std::any_of(table.begin(), table.end(), [&](const GidEntry& entry) { return entry.gid == gid; });
}

int to_request(const Device& device, const mrc_ctl_ep_req& req, mrc_ctl_ep_op_type type,
               EndpointRequest& out) {
  const auto mode = to_format_mode(req.ev_fmt_mode);
  if (!mode || req.req_ev.port < 1 || req.req_ev.port > device.config().ports.size()) return EINVAL;
  out.port = PortId(req.req_ev.port);
  std::memcpy(out.from.data(), req.sgid.raw, out.from.size());
  std::memcpy(out.to.data(), req.dgid.raw, out.to.size());
  if (out.from == Gid{})
    out.from = device.config().ports[out.port.value - 1u].address;  // "any" is the port's own
  if (!is_own(device, out.port, out.from) || out.to == Gid{} || out.to[0] == 0xff) return EINVAL;
  const auto value = to_value(req.req_ev);
  const auto word = node::first_word(value.bits).value;
  out.ev = Ev(*mode == node::FormatMode::udp ? word >> 16 : word);
  out.wire = value.bits;
  out.srv6 = *mode == node::FormatMode::srv6;
  const bool probe = type == MRC_CTL_EP_OP_EV_PROBE;
  out.op = probe ? wire::EndpointOp::ev_probe : wire::EndpointOp::port_status_update;
  if (!probe) out.port_status = PortMask(req.op.port_status_update.port_status);
  return 0;
}

int to_requests(const Device& device, mrc_ctl_ep_op_type type, std::span<const mrc_ctl_ep_req> reqs,
                std::uint8_t dscp, std::vector<EndpointRequest>& out) {
  std::set<std::uint16_t> ids;
  for (const auto& req : reqs) {
    if (!ids.insert(req.req_id).second) return EINVAL;  // answers could not be told apart
    EndpointRequest request;
    if (const int error = to_request(device, req, type, request); error != 0) return error;
    request.dscp = dscp;
    out.push_back(request);
  }
  return 0;
}

mrc_ctl_ep_rsp to_rsp(const EndpointAnswer& answer, std::uint16_t id) {
  mrc_ctl_ep_rsp rsp{};
  rsp.req_id = id;
  rsp.port = answer.port.value;
  const auto most = std::int64_t{std::numeric_limits<unsigned int>::max()};
  rsp.rtt = static_cast<unsigned int>(std::clamp<std::int64_t>(answer.rtt.count(), 0, most));
  rsp.adj_svc_time = answer.service_time_out ? 1 : 0;
  return rsp;
}

}  // namespace

extern "C" {

mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context* context, int cqe, void* cq_context, mrc_comp_channel* channel,
                                   int vector) {
  if (!may_control()) return fail_null<mrc_cq>(EPERM);
  if (context == nullptr || cqe < 1 || vector != 0) return fail_null<mrc_cq>(EINVAL);
  if (static_cast<std::uint32_t>(cqe) > context->device->limits().max_cqe) return fail_null<mrc_cq>(EINVAL);
  if (channel != nullptr && channel->context != context) return fail_null<mrc_cq>(EINVAL);
  auto* cq = new mrc_cq{};
  cq->context = context;
  cq->ev_events = std::make_unique<EvCq>(context->device, static_cast<std::size_t>(cqe), cq, cq_context,
                                         channel != nullptr ? &channel->channel : nullptr);
  ++context->objects;
  return cq;
}

int mrc_ctl_poll_ev_event(mrc_cq* cq, int num_entries, mrc_ctl_ev_event* events) {
  if (cq == nullptr || cq->ev_events == nullptr || num_entries < 0 ||
      (events == nullptr && num_entries > 0)) {
    return -EINVAL;
  }
  const std::size_t size = event_size(*cq->context);
  auto* to = reinterpret_cast<unsigned char*>(events);
  for (int i = 0; i < num_entries; ++i) {
    node::EvEvent event;
    if (cq->ev_events->poll(std::span(&event, 1)) == 0) return i;
    write_event(event, size, to + static_cast<std::size_t>(i) * size);
  }
  return num_entries;
}

int mrc_ctl_ep_batch_send_wait(mrc_context* context, uint8_t req_tc, mrc_ctl_ep_op_type type,
                               mrc_ctl_ep_req* req, int num_req, uint32_t rsp_timeout, mrc_ctl_ep_rsp* rsp,
                               int* num_rsp) {
  if (!may_control()) return fail(EPERM);
  if (context == nullptr || req == nullptr || rsp == nullptr || num_rsp == nullptr || num_req < 1)
    return fail(EINVAL);
  *num_rsp = 0;
  if (req_tc > kMostDscp) return fail(EINVAL);
  if (type != MRC_CTL_EP_OP_EV_PROBE && type != MRC_CTL_EP_OP_PORT_STATUS_UPDATE) return fail(EINVAL);
  Device& device = *context->device;
  std::vector<EndpointRequest> requests;
  const std::span<const mrc_ctl_ep_req> all(req, static_cast<std::size_t>(num_req));
  if (const int error = to_requests(device, type, all, req_tc, requests); error != 0) return fail(error);
  std::vector<EndpointAnswer> answers;
  const int error = device.endpoint_batch(requests, Duration(rsp_timeout), answers);
  for (const auto& answer : answers) rsp[(*num_rsp)++] = to_rsp(answer, req[answer.request].req_id);
  return error != 0 ? fail(error) : 0;
}

}  // extern "C"
