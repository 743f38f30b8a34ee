// For tests and benchmarks: two network namespaces joined by a veth, made by this process and gone with it.
// Ports are opened inside one with Sandbox::enter; sockets stay in the namespace where they were born.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::port::testing {

class Sandbox {
 public:
  /// Two namespaces, "left" (10.77.0.1, fd77::1) and "right" (10.77.0.2, fd77::2), veths l0 and r0 with this
  /// MTU. Without root it makes a user namespace of its own, which needs a process that has one thread.
  static Result<std::unique_ptr<Sandbox>> make(unsigned mtu = 9000);
  ~Sandbox();

  /// Runs `work` with this thread inside a namespace.
  void left(const std::function<void()>& work) const { inside(left_, work); }
  void right(const std::function<void()>& work) const { inside(right_, work); }
  /// Puts this thread into the left namespace until the sandbox goes: a port that sends opens sockets as it
  /// does so.
  void stay_left() const;
  /// Runs one shell command in a namespace ("ip link set l0 down"); an error holds what it printed.
  Status left_shell(const std::string& command) const;
  Status right_shell(const std::string& command) const;
  /// Both interfaces anew after "ip link del l0": the same names and addresses, other indices. It is for
  /// once.
  Status remake();
  int left_fd() const { return left_.get(); }
  int right_fd() const { return right_.get(); }

 private:
  Sandbox() = default;
  void inside(const Fd& where, const std::function<void()>& work) const;
  Status build(unsigned index);
  Status await_traffic(const char* left_address, const char* right_address) const;

  unsigned mtu_ = 9000;
  Fd home_;
  Fd left_;
  Fd right_;
};

}  // namespace mrc::port::testing
