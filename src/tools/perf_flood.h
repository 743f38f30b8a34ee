// Writes in a stream, as fast as they go or at a rate, and the side that they go to.
#pragma once

#include "lib/progress.h"
#include "tools/perf_side.h"

namespace mrc::tools {

/// Until the time is over; what was achieved goes to `r`.
Status flood(PerfSide& side, PerfResult& r);
/// Until the peer has done.
Status absorb(PerfSide& side);

Error write_failed(const ibv_wc& wc);
inline double in_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }
inline Time time_after(double s) { return lib::steady_now() + Duration(static_cast<std::int64_t>(s * 1e9)); }

}  // namespace mrc::tools
