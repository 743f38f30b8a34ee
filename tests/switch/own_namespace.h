// For what needs a network of its own: namespaces that an ordinary user may make, and commands in them.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace mrc::testing {

/// Nothing when it went well, else the command and what it said.
inline std::string run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string out;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  return pclose(pipe) == 0 ? std::string() : command + ": " + out + "\n";
}

inline void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// This process moves into a user and a network namespace of its own. False where the machine forbids it.
inline bool enter_namespace() {
  const std::string uid = "0 " + std::to_string(getuid()) + " 1",
                    gid = "0 " + std::to_string(getgid()) + " 1";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", uid);
  write_file("/proc/self/gid_map", gid);
  return true;
}

}  // namespace mrc::testing
