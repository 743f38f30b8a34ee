#include "tools/ctl_context.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mrc::tools {
namespace {

Result<lib::SoftDevice*> find_device(const std::string& name) {
  const lib::SoftDevices& found = lib::soft_devices();
  if (!found.error.empty()) return Error{ENODEV, found.error};
  std::string known;
  for (const auto& device : found.all) {
    if (device->config.name == name || (name.empty() && found.all.size() == 1)) return device.get();
    known += (known.empty() ? "" : ", ") + device->config.name;
  }
  if (known.empty())
    return Error{ENODEV, "this node has no device: give an interface an address, or set MRC_DEVICES"};
  if (name.empty()) return Error{ENODEV, "say --device: there are " + known};
  return Error{ENODEV, "there is no device " + name + "; there is " + known};
}

}  // namespace

CtlContext::~CtlContext() {
  context_.reset();
  verbs_.reset();
}

Result<CtlContext> CtlContext::open(const CtlOptions& options, const std::string& name, bool lasting) {
  if (!options.socket.empty()) ::setenv("MRC_SOCKET", options.socket.c_str(), 1);
  if (lasting) {
    auto there = ctl_connect(options);
    if (!there) return there.error();
  }
  const auto device = find_device(name);
  if (!device) return device.error();
  auto opened = lib::open_device((*device)->config);
  if (!opened) return opened.error();
  auto verbs = std::make_unique<lib::SoftContext>(*device, std::move(*opened));
  mrc_context* context = mrc_create_context(verbs->handle(), nullptr);
  if (context == nullptr) return Error{errno, std::string("no context: ") + std::strerror(errno)};
  return CtlContext(std::move(verbs), context);
}

Error ctl_error(const std::string& doing, int code) {
  const auto because = [&]() -> std::string {
    switch (code) {
      case EPERM: return "only a process with CAP_NET_ADMIN may: run it as root";
      case EBUSY: return "it is in use: by queue pairs, or by an EV profile that is ONLINE over it";
      case E2BIG: return "more than this device takes";
      case ENOENT: return "there is no such EV in it: `mrc ctl evs list` shows them";
      case EINVAL: return "its attributes do not fit together, or its state does not allow it now";
      case EAGAIN: return "mrcd is away or busy: try again";
      default: return std::strerror(code);
    }
  };
  return {code, "can't " + doing + ": " + because()};
}

}  // namespace mrc::tools
