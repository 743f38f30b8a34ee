// A controller's context on a device of this node, through the same interface as any controller's: mrc_ctl.h.
#pragma once

#include <mrc_ctl.h>

#include <memory>
#include <string>

#include "lib/soft_context.h"
#include "tools/ctl.h"

namespace mrc::tools {

class CtlContext {
 public:
  /// `device` empty: the only one there is. `lasting`: what is done must outlive this command, so mrcd must
  /// run.
  static Result<CtlContext> open(const CtlOptions& options, const std::string& device, bool lasting);

  CtlContext(CtlContext&&) = default;
  ~CtlContext();
  mrc_context* get() const { return context_.get(); }
  const lib::Device& device() const { return *verbs_->device(); }

 private:
  struct Destroy {
    void operator()(mrc_context* context) const { mrc_destroy_context(context); }
  };
  CtlContext(std::unique_ptr<lib::SoftContext> verbs, mrc_context* context)
      : verbs_(std::move(verbs)), context_(context) {}

  std::unique_ptr<lib::SoftContext> verbs_;
  std::unique_ptr<mrc_context, Destroy> context_;
};

/// The errno of a controller's call that failed, as a sentence that says what to do. `doing`: "create EV
/// profile 3".
Error ctl_error(const std::string& doing, int code);

}  // namespace mrc::tools
