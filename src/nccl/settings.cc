#include "nccl/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

#include "base/size.h"

namespace mrc::nccl {
namespace {

constexpr std::uint32_t kMaxSprayUnit = 64, kMaxTail = 255, kMaxThreads = 16;  // libmrc's
// Segmentation offload needs trains of packets on one EV: as long as one send carries.
constexpr std::uint32_t kDefaultSprayUnit = 0;
// A whole job waits for one late message, and its hosts are late by milliseconds now and then.
constexpr std::uint32_t kDefaultTail = 16;

constexpr std::string_view kPrefix = "NCCL_OPENMRC_";
constexpr const char *kDevices = "NCCL_OPENMRC_DEVICES", *kSprayUnit = "NCCL_OPENMRC_SPRAY_UNIT",
                     *kTail = "NCCL_OPENMRC_TAIL";

struct Variable {
  const char* name;
  std::uint32_t Settings::*field;
  std::uint32_t least, most;
  bool bytes = false;  // may be written as 64K
};
constexpr Variable kVariables[] = {
    {"NCCL_OPENMRC_THREADS", &Settings::threads, 0, kMaxThreads},
    {"NCCL_OPENMRC_LONG_BYTES", &Settings::long_bytes, 0, 1u << 30, true},
    {"NCCL_OPENMRC_QPS", &Settings::qps, 1, 16},
    {"NCCL_OPENMRC_STRIPE_BYTES", &Settings::stripe_bytes, 1, 1u << 30, true},
    {"NCCL_OPENMRC_TIMEOUT_MS", &Settings::timeout_ms, 50, 3'600'000},
    {"NCCL_OPENMRC_CONNECT_TIMEOUT_MS", &Settings::connect_timeout_ms, 100, 3'600'000},
    {"NCCL_OPENMRC_LINGER_MS", &Settings::linger_ms, 0, 60'000},
    {"NCCL_OPENMRC_GID_INDEX", &Settings::gid_index, 0, 255},
    {"NCCL_OPENMRC_SPEED_MBPS", &Settings::speed_mbps, 0, 10'000'000},
    {"NCCL_OPENMRC_LATENCY_US", &Settings::latency_us, 0, 1'000'000},
};

/// Null also when it is empty.
const char* said(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && stop == text.end() ? std::optional(value) : std::nullopt;
}

Status read(const char* name, std::uint32_t least, std::uint32_t most, std::uint32_t& out,
            bool bytes = false) {
  const char* text = said(name);
  if (text == nullptr) return Done{};
  const auto value = bytes ? parse_size(text) : parse_number(text);
  if (!value || *value < least || *value > most) {
    return Error{EINVAL, std::string(name) + " is '" + text + "': it must be a " +
                             (bytes ? "size" : "number") + " from " + std::to_string(least) + " to " +
                             std::to_string(most) +
                             (bytes ? std::string(", written as ") + kSizeExamples : std::string())};
  }
  out = static_cast<std::uint32_t>(*value);
  return Done{};
}

// libmrc has its own variables; ours stand in for those that are not set.

Status hand_on(const char* ours, const char* theirs, std::uint32_t most, std::uint32_t value) {
  if (auto done = read(ours, 0, most, value); !done) return done;
  ::setenv(theirs, std::to_string(value).c_str(), 0);
  return Done{};
}

/// Which devices there are: ours, where libmrc's variable does not say otherwise. A rank starts programs too,
/// and they inherit what we set.
bool devices_are_ours() {
  const char *named = said(kDevices), *theirs = std::getenv("MRC_DEVICES");
  if (named != nullptr) ::setenv("MRC_DEVICES", named, 0);
  return theirs == nullptr || (named != nullptr && std::string_view(named) == theirs);
}

/// How many ranks this host has, where the launcher says so; else 1.
unsigned ranks_here() {
  constexpr std::uint64_t kMost = 1024;
  for (const char* name :
       {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    const auto ranks = said(name) != nullptr ? parse_number(said(name)) : std::nullopt;
    if (ranks && *ranks >= 1 && *ranks <= kMost) return static_cast<unsigned>(*ranks);
  }
  return 1;
}

unsigned online_cores() { return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

/// Each device as often as there are threads. Who lists devices for libmrc has chosen how many there are,
/// unless he says more.
Status hand_on_threads(std::uint32_t& threads, unsigned cores) {
  if (const bool ours = devices_are_ours(); threads == 0) {
    threads = ours ? default_threads(cores_of_rank(cores, online_cores())) : 1;
    if (auto done = read("MRC_COPIES", 1, kMaxThreads, threads); !done) return done;
  }
  ::setenv("MRC_COPIES", std::to_string(threads).c_str(), 1);
  return Done{};
}

}  // namespace

unsigned cores_of_rank(unsigned allowed, unsigned online) { return std::min(allowed, online / ranks_here()); }

std::uint32_t default_threads(unsigned cores) { return std::clamp(cores * 3 / 8, 1u, 6u); }

Result<Settings> read_settings() {
  Settings settings;
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores < kCoresForThreads) settings.long_bytes = 0;
  for (const Variable& v : kVariables) {
    if (auto done = read(v.name, v.least, v.most, settings.*v.field, v.bytes); !done) return done.error();
  }
  for (const auto& [ours, theirs, most, otherwise] :
       {std::tuple(kSprayUnit, "MRC_SPRAY_UNIT", kMaxSprayUnit, kDefaultSprayUnit),
        std::tuple(kTail, "MRC_TAIL", kMaxTail, kDefaultTail)}) {
    if (auto done = hand_on(ours, theirs, most, otherwise); !done) return done.error();
  }
  if (auto done = hand_on_threads(settings.threads, cores); !done) return done.error();
  return settings;
}

std::vector<std::string> unknown_settings() {
  std::vector<std::string> unknown;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry, name = text.substr(0, text.find('='));
    const bool known = name == kDevices || name == kSprayUnit || name == kTail ||
                       std::any_of(std::begin(kVariables), std::end(kVariables),
                                   [&](const Variable& v) { return name == v.name; });
    if (name.starts_with(kPrefix) && !known) unknown.emplace_back(name);
  }
  return unknown;
}

std::uint64_t patience_us(const Retries& r) {
  // One wait before each retry and one before giving up: linear ones of the same length, then doubling.
  const std::uint64_t base_ns = std::uint64_t{1024} << r.timeout;
  const std::uint64_t waits = r.linear + 1u + ((std::uint64_t{2} << r.exponential) - 2);
  return base_ns * waits / 1000;
}

Retries retries_within(std::uint32_t timeout_ms) {
  // 1 to 8 ms: what is lost without a trace, and everything behind it, stands still for some of these.
  constexpr std::uint8_t kLinear = 7, kMostDoublings = 20, kShortest = 10, kLongest = 13;
  const std::uint64_t most = std::uint64_t{timeout_ms - timeout_ms / kAsksPerTimeout} * 1000;
  Retries best{kShortest, 0, 0};
  for (std::uint8_t t = kShortest; t <= kLongest; ++t) {
    for (std::uint8_t e = 0; e <= kMostDoublings; ++e) {
      const Retries r{t, kLinear, e};
      const std::uint64_t wait = patience_us(r);
      if (wait <= most && wait > patience_us(best)) best = r;
    }
  }
  return best;
}

}  // namespace mrc::nccl
