// Opening a device: the soft one of this process, or a real one.
#include <cerrno>
#include <cstdio>

#include "lib/failure.h"
#include "verbs/objects.h"
#include "verbs/real_library.h"

using namespace mrc;
using namespace mrc::verbs;

extern "C" {

ibv_context* ibv_open_device(ibv_device* device) {
  if (device == nullptr) return fail<ibv_context>(EINVAL);
  if (!lib::is_soft(device)) return MRC_PASS_ON(nullptr, ibv_open_device, device);
  auto opened = lib::open_device(static_cast<lib::SoftDevice*>(device)->config);
  if (!opened) {
    lib::note_failure(opened.error().what);
    std::fprintf(stderr, "OpenMRC: cannot open %s: %s\n", device->name, opened.error().what.c_str());
    return fail<ibv_context>(opened.error().code);
  }
  return make_context(device, *std::move(opened));
}

ibv_context* ibv_import_device(int cmd_fd) { return MRC_PASS_ON(nullptr, ibv_import_device, cmd_fd); }

}  // extern "C"
