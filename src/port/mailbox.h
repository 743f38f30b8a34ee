// Messages of a UDP socket, without a system call: while somebody attends, the kernel puts them down here
// instead of the socket's queue (see doorway.h). Whoever reads saves the call. Whoever sends saves the queue,
// its lock and its accounts, and gets the message's memory back at once, still in its cache: that is worth
// more than the copy, which it makes for the reader.
#pragma once

#include <utility>

#include "port/doorway.h"
#include "port/system_calls.h"

namespace mrc::port {

/// One thread at a time.
class Mailbox {
 public:
  using Letter = DoorwayMemory::Letter;
  /// REQUIRES a doorway that is new.
  explicit Mailbox(SharedDoorway memory) : memory_(std::move(memory)) {}

  /// From now on messages come here, where nothing wakes whoever sleeps.
  void attend() {
    if (memory_->attended.load(std::memory_order_relaxed) == 0) memory_->attended = 1;
  }
  /// From now on everything goes to the socket. False: some message has come already, or is about to.
  bool rest() {
    memory_->attended.store(0, std::memory_order_seq_cst);
    return !has_more();
  }
  /// Some message is there that was not taken, or is still written: then it hides those behind it.
  bool has_more() const { return memory_->claimed.load(std::memory_order_seq_cst) != taken_.word(); }

  /// The oldest message that was not taken, if it is there.
  const Letter* front() const {
    const Letter& letter = memory_->letters[taken_.letters % DoorwayMemory::kLetters];
    if (letter.ready.load(std::memory_order_acquire) != taken_.letters % kNumbers + 1) return nullptr;
    system_calls::after_finding_mail();
    return &letter;
  }
  /// REQUIRES front(): its bytes, from the UDP header on.
  const std::uint8_t* front_bytes() const { return memory_->bytes + taken_.bytes % DoorwayMemory::kBytes; }
  /// REQUIRES front(), which stays until give_back().
  void take() {
    queued_ += front()->queued;
    taken_.add(front()->size);
  }
  /// All that was taken so far. The kernel hears of some at a time: it would wait for the news each time.
  void give_back() {
    if (taken_.letters - given_back_.letters < DoorwayMemory::kLetters / 4 &&
        taken_.bytes - given_back_.bytes < DoorwayMemory::kBytes / 4)
      return;
    given_back_ = taken_;
    memory_->given_back.store(taken_.word(), std::memory_order_release);
  }
  /// How many have ever come this way: the socket counts each as dropped. Those that went to the queue after
  /// all are in it until they are taken.
  std::uint64_t ever() const {
    const std::uint64_t numbers = memory_->claimed.load(std::memory_order_relaxed) >> Fill::kByteBits;
    return taken_.letters + (numbers - taken_.letters) % kNumbers - queued_;
  }

 private:
  using Fill = DoorwayMemory::Fill;
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << (64 - Fill::kByteBits);

  SharedDoorway memory_;
  Fill taken_, given_back_;
  std::uint64_t queued_ = 0;  // of those taken
};

}  // namespace mrc::port
