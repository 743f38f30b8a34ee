// Protection domains and memory regions.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "verbs/objects.h"
#include "verbs/real_library.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

using namespace mrc;
using namespace mrc::verbs;

namespace {

// The right to atomics is taken and never used: programs written for NICs ask for it with all others, and no
// atomic ever comes.
constexpr unsigned kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                  IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
                                  IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_HUGETLB;

/// A NIC pins what it is given, and refuses what is not there or may not be written. Bringing the pages in
/// does the same check, and spares the first packets the page faults. In pieces: until the kernel has brought
/// one in, every other thread of the process that maps or unmaps anything waits, and gigabytes take seconds.
int bring_in(void* address, std::size_t length, bool write) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(address) + length;
  const auto populate = [=](int how) {
    constexpr std::size_t kPiece = 16 << 20;
    int error = 0;
    for (std::uintptr_t at = start; error == 0 && at < end; at += std::min(kPiece, end - at))
      error = madvise(reinterpret_cast<void*>(at), std::min(kPiece, end - at), how);
    return error;
  };
  if (populate(write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0) return 0;
  if (errno != EINVAL) return errno == ENOMEM ? EFAULT : errno;
  // EINVAL: may not be written; or an old kernel, or memory of a device, against which there is nothing to be
  // said.
  return write && populate(MADV_POPULATE_READ) == 0 ? EFAULT : 0;
}

/// Optional rights are promises of the program, which may be ignored; rights that would have to be kept are
/// not given.
ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) {
  if ((access & ~kKnownAccess) != 0) return fail<ibv_mr>(EOPNOTSUPP);  // memory windows
  const bool remote = (access & IBV_ACCESS_REMOTE_WRITE) != 0;
  const bool needs_local = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if (needs_local && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return fail<ibv_mr>(EINVAL);
  if (length == 0 || reinterpret_cast<std::uintptr_t>(address) + length < length) return fail<ibv_mr>(EINVAL);
  // On demand: it must be there, but pages that nobody has written to yet stay away until somebody does.
  const bool on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
  const bool write = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  if (const int error = bring_in(address, length, write && !on_demand); error != 0) {
    return fail<ibv_mr>(error);
  }
  SoftPd* ours = soft_pd(pd);
  const auto region = ours->device->register_memory(ours->id, address, length, iova,
                                                    {.local_write = (access & IBV_ACCESS_LOCAL_WRITE) != 0,
                                                     .remote_write = remote,
                                                     .remote_read = (access & IBV_ACCESS_REMOTE_READ) != 0,
                                                     .zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0});
  if (!region) return fail<ibv_mr>(region.error().code);
  auto* mr = new SoftMr{};
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = length;
  mr->lkey = region->lkey;
  mr->rkey = region->rkey;
  mr->device = ours->device;
  mr->region = *region;
  return mr;
}

}  // namespace

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(nullptr, ibv_alloc_pd, context);
  const auto id = ours->device()->create_pd();
  if (!id) return fail<ibv_pd>(id.error().code);
  auto* pd = new SoftPd{};
  pd->context = context;
  pd->owner = ours->shared_from_this();
  pd->device = ours->device();
  pd->id = *id;
  return pd;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  SoftPd* ours = soft_pd(pd);
  if (ours == nullptr) return MRC_PASS_ON(ENODEV, ibv_dealloc_pd, pd);
  if (const int error = ours->device->destroy_pd(ours->id); error != 0) return error;
  delete ours;
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_reg_mr, pd, address, length, access);
  return register_memory(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                         static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, int access) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_reg_mr_iova, pd, address, length, iova, access);
  return register_memory(pd, address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) {
  if (soft_pd(pd) == nullptr)
    return MRC_PASS_ON(nullptr, ibv_reg_mr_iova2, pd, address, length, iova, access);
  return register_memory(pd, address, length, iova, access);
}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                          int access) {
  if (soft_pd(pd) == nullptr) {
    return MRC_PASS_ON(nullptr, ibv_reg_dmabuf_mr, pd, offset, length, iova, fd, access);
  }
  return fail<ibv_mr>(EOPNOTSUPP);
}

int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
  if (!is_ours(mr))
    return MRC_PASS_ON(IBV_REREG_MR_ERR_CMD, ibv_rereg_mr, mr, flags, pd, address, length, access);
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;  // the old registration stays as it is
}

int ibv_dereg_mr(ibv_mr* mr) {
  if (!is_ours(mr)) return MRC_PASS_ON(ENODEV, ibv_dereg_mr, mr);
  SoftMr* ours = soft(mr);
  if (const int error = ours->device->deregister(ours->region); error != 0) return error;
  delete ours;
  return 0;
}

// Sharing objects between processes needs a kernel device.
ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_import_mr, pd, handle);
  return fail<ibv_mr>(EOPNOTSUPP);
}
void ibv_unimport_mr(ibv_mr* mr) {
  if (!is_ours(mr)) MRC_PASS_ON(void(), ibv_unimport_mr, mr);
}
ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  if (soft_context(context) == nullptr) return MRC_PASS_ON(nullptr, ibv_import_pd, context, handle);
  return fail<ibv_pd>(EOPNOTSUPP);
}
void ibv_unimport_pd(ibv_pd* pd) {
  if (soft_pd(pd) == nullptr) MRC_PASS_ON(void(), ibv_unimport_pd, pd);
}
ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  if (soft_context(context) == nullptr) return MRC_PASS_ON(nullptr, ibv_import_dm, context, handle);
  return fail<ibv_dm>(EOPNOTSUPP);
}
void ibv_unimport_dm(ibv_dm* dm) { MRC_PASS_ON(void(), ibv_unimport_dm, dm); }

}  // extern "C"
