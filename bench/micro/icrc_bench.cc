// The iCRC against the bare CRC-32 of two libraries. Which of them wire uses is decided by these figures.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>
#include <libdeflate.h>

#include <vector>

#include "wire/icrc.h"
#include "wire/testing.h"

namespace mrc::wire {
namespace {

std::vector<std::uint8_t> input(benchmark::State& state) {
  Prng prng(1);
  return testing::random_bytes(static_cast<std::size_t>(state.range(0)), prng);
}

void finish(benchmark::State& state) { state.SetBytesProcessed(state.iterations() * state.range(0)); }

void crc_libdeflate(benchmark::State& state) {
  const auto bytes = input(state);
  for (auto _ : state) benchmark::DoNotOptimize(libdeflate_crc32(0, bytes.data(), bytes.size()));
  finish(state);
}
void crc_isal(benchmark::State& state) {
  const auto bytes = input(state);
  for (auto _ : state) benchmark::DoNotOptimize(crc32_gzip_refl(0, bytes.data(), bytes.size()));
  finish(state);
}
/// The iCRC of a data packet with this much payload; its headers come on top and count for nothing.
void icrc(benchmark::State& state) {
  constexpr std::size_t kHeaders = 12 + 4 + 4 + 16;  // BTH, METH, TSETH, RETH
  Prng prng(1);
  const auto bytes =
      testing::random_bytes(kHeaders + static_cast<std::size_t>(state.range(0)) + kIcrcSize, prng);
  Datagram around;
  around.source = around.destination = *parse_ip("fd00::1");
  for (auto _ : state) benchmark::DoNotOptimize(icrc_of(around, bytes));
  finish(state);
}
BENCHMARK(crc_libdeflate)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK(crc_isal)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK(icrc)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);

}  // namespace
}  // namespace mrc::wire
