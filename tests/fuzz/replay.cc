// Replays the stored corpus of a fuzz target, then mutations of it: a small fuzzer that any compiler builds.
// Usage: fuzz_replay TARGET CORPUS_DIR [MUTATIONS [SEED]]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/prng.h"
#include "properties.h"

namespace {

using namespace mrc;
using Input = std::vector<std::uint8_t>;

// What was running when a check failed: enough to replay it.
const Input* current = nullptr;

void print_current() {
  std::fprintf(stderr, "input (%zu bytes): ", current->size());
  for (const std::uint8_t b : *current) std::fprintf(stderr, "%02x", b);
  std::fprintf(stderr, "\n");
  std::_Exit(1);  // an abort would hide the canary's message from ctest
}

void run(fuzz::Property property, const Input& input) {
  current = &input;
  // Exactly as large as the input, so that a sanitizer sees one byte too far.
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), exact.get());
  property({exact.get(), input.size()});
}

std::vector<Input> read_corpus(const char* directory) {
  std::vector<Input> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

void mutate(Input& input, const std::vector<Input>& corpus, Prng& prng) {
  if (input.empty()) input.push_back(0);
  const auto at = prng.below(static_cast<std::uint32_t>(input.size()));
  switch (prng.below(6)) {
    case 0: input[at] = static_cast<std::uint8_t>(prng.next()); break;
    case 1: input[at] ^= static_cast<std::uint8_t>(1u << prng.below(8)); break;
    case 2: input[at] = static_cast<std::uint8_t>(input[at] + prng.below(35) - 17); break;
    case 3: input.resize(at); break;
    case 4: input.insert(input.begin() + at, static_cast<std::uint8_t>(prng.next())); break;
    default: {  // the front of one, the back of another
      const Input& other = corpus[prng.below(static_cast<std::uint32_t>(corpus.size()))];
      if (at < other.size()) input.resize(at), input.insert(input.end(), other.begin() + at, other.end());
    }
  }
}

fuzz::Property find(std::string_view name) {
  for (const auto& target : fuzz::targets()) {
    if (target.name == name) return target.property;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const fuzz::Property property = argc >= 3 ? find(argv[1]) : nullptr;
  if (property == nullptr) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET CORPUS_DIR [MUTATIONS [SEED]]; targets:");
    for (const auto& target : fuzz::targets()) std::fprintf(stderr, " %s", target.name.data());
    return std::fprintf(stderr, "\n"), 2;
  }
  on_check_failure = print_current;
  const std::vector<Input> corpus = read_corpus(argv[2]);
  if (corpus.empty()) return std::fprintf(stderr, "%s: no corpus\n", argv[2]), 2;
  for (const Input& input : corpus) run(property, input);
  const long mutations = argc > 3 ? std::atol(argv[3]) : 0;
  Prng prng(argc > 4 ? std::strtoull(argv[4], nullptr, 0) : 1);
  for (long i = 0; i < mutations; ++i) {
    Input input = corpus[prng.below(static_cast<std::uint32_t>(corpus.size()))];
    for (std::uint32_t n = 1 + prng.below(4); n > 0; --n) mutate(input, corpus, prng);
    run(property, input);
  }
  std::printf("%s: %zu inputs, %ld mutations, nothing broken\n", argv[1], corpus.size(), mutations);
}
