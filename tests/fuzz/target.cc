// libFuzzer's entry: MRC_TARGET is the property that this program checks.
#include <cstddef>
#include <cstdint>

#include "properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::MRC_TARGET({data, size});
  return 0;
}
