// What a device, a port and its GID and P_Key tables look like.
#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "verbs/objects.h"
#include "verbs/port_attributes.h"
#include "verbs/real_library.h"

#undef ibv_query_port

namespace mrc::verbs {
namespace {

constexpr std::uint32_t kVendorId = 0;           // of no registered vendor
constexpr std::uint32_t kVendorPartId = 0x4d52;  // "MR"
// Reads stay on the device and are done when they are posted: any number that a QP's attributes can say.
constexpr int kReads = 255;
constexpr std::uint64_t kPageSizes = ~std::uint64_t{4095};

void fill_device(const lib::Device& device, ibv_device_attr& attr) {
  const auto& limits = device.limits();
  std::memset(&attr, 0, sizeof attr);
  std::snprintf(attr.fw_ver, sizeof attr.fw_ver, "%s", "soft");
  attr.node_guid = attr.sys_image_guid = htobe64(device.config().guid);
  attr.max_mr_size = ~std::uint64_t{0};
  attr.page_size_cap = kPageSizes;
  attr.vendor_id = kVendorId;
  attr.vendor_part_id = kVendorPartId;
  attr.max_qp = static_cast<int>(limits.max_qp);
  attr.max_qp_wr = static_cast<int>(std::min(limits.max_send_depth, limits.max_recv_depth));
  attr.device_cap_flags =
      IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_CURR_QP_STATE_MOD;
  attr.max_sge = static_cast<int>(limits.max_sge);
  attr.max_cq = static_cast<int>(limits.max_cq);
  attr.max_cqe = static_cast<int>(limits.max_cqe);
  attr.max_mr = static_cast<int>(limits.max_mr);
  attr.max_pd = static_cast<int>(limits.max_pd);
  attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = kReads;
  attr.max_res_rd_atom = static_cast<int>(limits.max_qp) * kReads;
  attr.atomic_cap = IBV_ATOMIC_NONE;
  attr.max_pkeys = 1;
  attr.local_ca_ack_delay = 15;
  attr.phys_port_cnt = static_cast<std::uint8_t>(device.config().ports.size());
}

}  // namespace

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t size) {
  const auto& device = *soft_context(context)->device();
  if (port < 1 || port > device.config().ports.size()) return EINVAL;
  const PortId id(port);
  const auto filled = port_attributes(device.port_status(id), device.gids(id).size());
  std::memset(attr, 0, size);
  std::memcpy(attr, &filled, std::min(size, sizeof filled));
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  if (size < sizeof attr->orig_attr) return EINVAL;
  ibv_device_attr_ex filled{};
  fill_device(*soft_context(context)->device(), filled.orig_attr);
  filled.phys_port_cnt_ex = filled.orig_attr.phys_port_cnt;
  std::memset(attr, 0, size);
  std::memcpy(attr, &filled, std::min(size, sizeof filled));
  return 0;
}

}  // namespace mrc::verbs

using namespace mrc;
using namespace mrc::verbs;

extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(ENODEV, ibv_query_device, context, attr);
  fill_device(*ours->device(), *attr);
  return 0;
}

/// Programs built with today's headers call query_port of the context; this is for those built before the
/// structure grew, so only what it had then is written.
int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attr) {
  if (soft_context(context) == nullptr) return MRC_PASS_ON(ENODEV, ibv_query_port, context, port, attr);
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attr),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_pkey(ibv_context* context, std::uint8_t port, int index, __be16* pkey) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(-1, ibv_query_pkey, context, port, index, pkey);
  if (port < 1 || port > ours->device()->config().ports.size() || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htons(0xFFFF);
  return 0;
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port, __be16 pkey) {
  if (soft_context(context) == nullptr) return MRC_PASS_ON(-1, ibv_get_pkey_index, context, port, pkey);
  __be16 ours;
  if (ibv_query_pkey(context, port, 0, &ours) != 0) return -1;
  return pkey == ours ? 0 : -1;
}

}  // extern "C"
