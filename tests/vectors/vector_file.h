// Reads the golden packets of tests/vectors/*.toml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wire/codec.h"

namespace mrc::vectors {

/// "bth.psn" -> 43981. Signed fields are kept as their 64-bit pattern.
using Fields = std::map<std::string, std::uint64_t>;

struct Vector {
  std::string file, name, level;
  std::string verdict;
  bool emit = true;  // bytes are also what an emitter must write
  std::vector<std::uint8_t> bytes, payload;
  wire::Settings settings;
  std::map<std::string, std::string> net;  // values as text
  std::map<std::string, std::uint64_t> net_numbers;
  Fields fields;
};

/// Every vector of every file; stops the test program when a file can't be read.
std::vector<Vector> read_all(const std::string& directory);

}  // namespace mrc::vectors
