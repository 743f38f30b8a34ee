// Independent pieces of work in processes of their own, a few at a time: each piece has its own memory and
// CPU time to account for, and a crash of one is an error of one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mrc::tools {

struct Piece {
  std::string text;   // what the work returned
  std::string error;  // or why there is nothing, as a sentence
};

/// Calls `work(i)` for i in 0 .. count-1, at most `at_once` at a time, and gathers what they return, in
/// order. `on_done(i)` is called here, as they end. Once interrupted() it ends those that run, starts no
/// more, and says so of each; on_done hears of none of them. REQUIRES: no other threads in this process.
std::vector<Piece> run_in_processes(std::size_t count, unsigned at_once,
                                    const std::function<std::string(std::size_t)>& work,
                                    const std::function<void(std::size_t)>& on_done = {});

}  // namespace mrc::tools
