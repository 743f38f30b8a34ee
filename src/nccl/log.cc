#include "nccl/log.h"

#include <atomic>

namespace mrc::nccl {
namespace {

std::atomic<Logger> the_logger{nullptr};

void say(LogLevel level, unsigned long subsystems, const std::string& sentence) {
  if (const Logger logger = the_logger.load(std::memory_order_relaxed); logger != nullptr) {
    logger(level, subsystems, "openmrc", 0, "NET/OpenMRC : %s", sentence.c_str());
  }
}

}  // namespace

void set_logger(Logger logger) { the_logger.store(logger, std::memory_order_relaxed); }
void warn(const std::string& sentence) { say(kLogWarn, ~0ul, sentence); }
void info(const std::string& sentence) { say(kLogInfo, kSubsysInit | kSubsysNet, sentence); }

}  // namespace mrc::nccl
