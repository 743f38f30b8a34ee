// Everything that NCCL_OPENMRC_* variables say, each with its default. docs/nccl.md is their page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mrc::nccl {

struct Settings {
  std::uint32_t threads =
      0;  // _THREADS: that move data, for each device, two for each that NCCL sees; 0: by the cores
  std::uint32_t long_bytes =
      32
      << 10;  // _LONG_BYTES: from here on those threads move a message, below it NCCL's own; 0: it moves all
  std::uint32_t qps = 1;                   // _QPS: queue pairs of one connection
  std::uint32_t stripe_bytes = 256 << 10;  // _STRIPE_BYTES: a message this long is striped over all of them
  std::uint32_t timeout_ms = 10'000;       // _TIMEOUT_MS: without any answer of the peer: an error
  std::uint32_t connect_timeout_ms = 60'000;  // _CONNECT_TIMEOUT_MS
  std::uint32_t linger_ms = 1'000;            // _LINGER_MS: a closed comm answers its peer that long
  std::uint32_t gid_index = 3;                // _GID_INDEX
  std::uint32_t speed_mbps = 0;               // _SPEED_MBPS; 0: what the device says
  std::uint32_t latency_us = 0;               // _LATENCY_US; 0: NCCL's own estimate
};

/// From the environment; also hands _DEVICES, _THREADS, _SPRAY_UNIT and _TAIL to libmrc. EINVAL names the
/// variable and its range.
Result<Settings> read_settings();

/// Variables of the environment that are named as ours are, and are none: somebody meant one of them.
std::vector<std::string> unknown_settings();

/// Of the `online` cores of the host, those that are a rank's part; no more than it is `allowed` to run on,
/// for launchers that bind each rank to its part.
unsigned cores_of_rank(unsigned allowed, unsigned online);

/// Six, or three for every eight cores: NCCL and the application need the others.
std::uint32_t default_threads(unsigned cores);
inline constexpr unsigned kCoresForThreads = 8;  // with fewer, threads that spin are in each other's way

inline constexpr std::uint32_t kAsksPerTimeout = 8;  // a peer that is silent is asked that often
/// Retry attributes of a QP that fails within `timeout_ms` of silence, the time before the first question
/// included, but hardly earlier than half of it.
struct Retries {
  std::uint8_t timeout, linear, exponential;
};
Retries retries_within(std::uint32_t timeout_ms);
/// How long a QP with these attributes waits in all, in us.
std::uint64_t patience_us(const Retries& retries);

}  // namespace mrc::nccl
