// One end of a bulk transfer: device, memory, QP, and what the other end needs to know about them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lib/nic_device.h"
#include "tools/bulk.h"

namespace mrc::tools {

/// The bytes of message `number`: nobody sends them by accident, and checking them is cheap.
void fill_pattern(std::uint64_t number, std::span<std::uint64_t> out);
bool is_pattern(std::uint64_t number, std::span<const std::uint64_t> bytes);

/// What peers tell each other out of band.
struct BulkAddress {
  lib::Gid gid{};
  std::uint32_t qpn = 0, rkey = 0;
  std::uint64_t va = 0;
};

class BulkSide {
 public:
  static Result<std::unique_ptr<BulkSide>> open(const BulkSettings& settings);
  ~BulkSide();
  /// Tells the other side who we are, hears who it is, connects the QP, and posts receives before the other
  /// side may send.
  Status connect(int channel, std::uint32_t receives = 0);

  std::span<std::uint64_t> slot(std::uint64_t number);
  /// Where the other side writes how many messages it has taken, and how long it was kept from working.
  std::uint64_t credit() const { return heard(credit_word()); }
  std::int64_t peer_late_ns() const { return static_cast<std::int64_t>(heard(credit_word() + 1)); }
  int post_message(std::uint64_t number);
  /// EAGAIN while an earlier credit is on its way.
  int post_credit(std::uint64_t taken, std::int64_t late_ns);
  int post_receive();
  /// Counts completions into `sample`; calls `received` for each immediate. False: there was none.
  bool poll(const std::function<void()>& received);
  const BulkSample& take_sample();
  BulkSample& sample() { return sample_; }
  /// In words: paths, packets, window, ports and the machine, for a transfer that stands still.
  std::string account();

 private:
  explicit BulkSide(const BulkSettings& settings);
  void note_device();
  std::size_t credit_word() const { return memory_.size() - 2; }
  std::uint64_t heard(std::size_t word) const;

  BulkSettings settings_;
  std::vector<std::uint64_t> memory_;  // the slots, then what the other side says
  std::shared_ptr<lib::NicDevice> device_;
  lib::Pd pd_;
  lib::CompletionQueue* cq_ = nullptr;
  lib::QueuePair* qp_ = nullptr;
  lib::Region region_;
  BulkAddress peer_;
  BulkSample sample_;
  bool credit_on_its_way_ = false;
  Time last_;
};

}  // namespace mrc::tools
