// A sender and a receiver of one plugin, driven from one thread as NCCL's proxy drives them.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "nccl/table.h"

namespace mrc::nccl::testing {

const char* plugin_path();
const char* peer_path();

/// What the plugin logged as warnings since the last clear_log(), one line each.
std::string logged_warnings();
void clear_log();

/// The device, the times and the log that tests want; loads and initialises one version.
std::unique_ptr<Table> start_plugin(int version);

/// Calls `step` until it returns true; false when that takes longer than a test may.
bool drive(const std::function<bool()>& step, std::chrono::milliseconds most = std::chrono::seconds(60));

using HandleBytes = std::array<std::uint8_t, kHandleBytes>;

/// Memory with its registration and a margin on both sides that nobody may touch.
class Memory {
 public:
  Memory(Table& table, void* comm, std::size_t size, std::uint8_t seed);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Buffer buffer(std::size_t offset, std::size_t size, int tag);
  std::uint8_t* data() { return bytes_.data() + kMargin; }
  bool margins_intact() const;
  static std::uint8_t expected(std::uint8_t seed, std::size_t i) {
    return static_cast<std::uint8_t>(seed + i * 7 + i / 251);
  }

 private:
  static constexpr std::size_t kMargin = 64;
  Table& table_;
  void* comm_;
  std::vector<std::uint8_t> bytes_;
  void* memory_ = nullptr;
};

/// Connected.
struct Ends {
  void* listener = nullptr;
  void* sender = nullptr;
  void* receiver = nullptr;
};
bool connect_ends(Table& table, Ends& ends);
void close_ends(Table& table, Ends& ends);

/// Posts until the plugin takes it; the request, or null on an error. A sender may have to ask the other end
/// for the buffer, so `receive`, which must not be done before, is looked after meanwhile, as NCCL does with
/// all that it waits for.
void* post_send(Table& table, void* comm, const Buffer& buffer, void* receive = nullptr);
void* post_receive(Table& table, void* comm, const std::vector<Buffer>& buffers);
/// Tests until done, or an error comes, which it returns.
Code wait_for(Table& table, void* request, int* sizes,
              std::chrono::milliseconds most = std::chrono::seconds(60));

}  // namespace mrc::nccl::testing
