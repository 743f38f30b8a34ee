// A completion queue of the device: the NIC's ring, and a lock for the application's threads that poll it.
#pragma once

#include <atomic>
#include <mutex>

#include "lib/device.h"
#include "nic/completion_queue.h"

namespace mrc::lib {

class NicDevice;

class NicCq final : public CompletionQueue {
 public:
  NicCq(NicDevice& device, std::uint32_t depth, CqListener* listener)
      : device_(device), listener_(listener), ring_(depth, this) {}
  ~NicCq();

  int poll(std::span<WorkCompletion> out) override;
  void arm(bool solicited_only) override;
  std::uint32_t depth() const override { return ring_.capacity(); }
  int resize(std::uint32_t depth) override;

  nic::CompletionQueue& ring() { return ring_; }
  std::mutex& consumers() { return mutex_; }
  CqListener* listener() const { return listener_; }
  void note_notified();
  int users = 0;

 private:
  std::size_t take(std::span<WorkCompletion> out);

  NicDevice& device_;
  CqListener* listener_;
  std::mutex mutex_;
  nic::CompletionQueue ring_;
  std::atomic<bool> armed_{false};
};

}  // namespace mrc::lib
