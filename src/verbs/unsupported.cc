// What RC over MRC has no use for: address handles, shared receive queues, multicast. A soft device says so.
#include <cerrno>

#include "verbs/objects.h"
#include "verbs/real_library.h"

using namespace mrc::verbs;

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_create_ah, pd, attr);
  return fail<ibv_ah>(EOPNOTSUPP);
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_create_ah_from_wc, pd, wc, grh, port);
  return fail<ibv_ah>(EOPNOTSUPP);
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port, ibv_wc* wc, ibv_grh* grh,
                        ibv_ah_attr* attr) {
  if (soft_context(context) == nullptr)
    return MRC_PASS_ON(-1, ibv_init_ah_from_wc, context, port, wc, grh, attr);
  errno = EOPNOTSUPP;
  return -1;
}

int ibv_destroy_ah(ibv_ah* ah) { return MRC_PASS_ON(ENODEV, ibv_destroy_ah, ah); }

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_create_srq, pd, init);
  return fail<ibv_srq>(EOPNOTSUPP);
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
  return MRC_PASS_ON(ENODEV, ibv_modify_srq, srq, attr, mask);
}
int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) { return MRC_PASS_ON(ENODEV, ibv_query_srq, srq, attr); }
int ibv_destroy_srq(ibv_srq* srq) { return MRC_PASS_ON(ENODEV, ibv_destroy_srq, srq); }

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_attach_mcast, qp, gid, lid);
  return EOPNOTSUPP;
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_detach_mcast, qp, gid, lid);
  return EOPNOTSUPP;
}

int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr, std::uint8_t mac[6],
                                std::uint16_t* vid) {
  if (soft_context(context) == nullptr) {
    return MRC_PASS_ON(-1, ibv_resolve_eth_l2_from_gid, context, attr, mac, vid);
  }
  errno = EOPNOTSUPP;  // the kernel finds the neighbour
  return -1;
}

}  // extern "C"
