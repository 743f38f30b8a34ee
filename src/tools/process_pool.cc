#include "tools/process_pool.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "tools/interruption.h"

namespace mrc::tools {
namespace {

constexpr int kLookMs = 200;  // a signal may come just before the wait for workers
constexpr const char* kInterrupted = "interrupted";

struct Worker {
  std::size_t piece = 0;
  pid_t pid = -1;
  int pipe = -1;
};

bool write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void hold_signals(bool hold) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM}) sigaddset(&set, s);
  sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
}

[[noreturn]] void serve(int fd, const std::function<std::string(std::size_t)>& work, std::size_t piece) {
  leave_interruption();
  hold_signals(false);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would hear the answer
  int status = 1;
  try {
    status = write_all(fd, work(piece)) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mrc: %s\n", e.what());
  }
  std::fflush(nullptr);
  _exit(status);
}

bool start(std::vector<Worker>& workers, std::size_t piece,
           const std::function<std::string(std::size_t)>& work, Piece& out) {
  int ends[2];
  if (pipe(ends) != 0) {
    out.error = std::string("no pipe for another process: ") + std::strerror(errno);
    return false;
  }
  std::fflush(nullptr);
  hold_signals(true);  // a child that is told to end must not take it for what its parent heeds
  const pid_t pid = fork();
  if (pid != 0) hold_signals(false);
  if (pid == 0) {
    close(ends[0]);
    serve(ends[1], work, piece);
  }
  close(ends[1]);
  if (pid < 0) {
    out.error = std::string("no other process: ") + std::strerror(errno);
    close(ends[0]);
    return false;
  }
  workers.push_back({piece, pid, ends[0]});
  return true;
}

void finish(const Worker& w, Piece& out) {
  close(w.pipe);
  int status = 0;
  while (waitpid(w.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  out.error = WIFSIGNALED(status)
                  ? std::string("its process ended with signal ") + std::to_string(WTERMSIG(status))
                  : "its process failed";
}

}  // namespace

std::vector<Piece> run_in_processes(std::size_t count, unsigned at_once,
                                    const std::function<std::string(std::size_t)>& work,
                                    const std::function<void(std::size_t)>& on_done) {
  std::vector<Piece> out(count);
  std::vector<Worker> workers;
  std::size_t next = 0;
  bool interrupted = false;
  while (next < count || !workers.empty()) {
    if (interruption() != 0 && !interrupted) {
      interrupted = true;
      for (; next < count; ++next) out[next].error = kInterrupted;
      for (const Worker& w : workers) ::kill(w.pid, SIGTERM);
    }
    while (next < count && workers.size() < std::max(at_once, 1u)) {
      if (!start(workers, next, work, out[next]) && on_done) on_done(next);
      ++next;
    }
    std::vector<pollfd> waits;
    for (const Worker& w : workers) waits.push_back({w.pipe, POLLIN, 0});
    if (waits.empty() || (poll(waits.data(), waits.size(), kLookMs) < 0 && errno != EINTR)) continue;
    for (std::size_t i = waits.size(); i-- > 0;) {
      if (waits[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(workers[i].pipe, buffer, sizeof buffer);
      if (n > 0) out[workers[i].piece].text.append(buffer, static_cast<std::size_t>(n));
      if (n > 0 || (n < 0 && errno == EINTR)) continue;
      const Worker ended = workers[i];
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
      finish(ended, out[ended.piece]);
      Piece& piece = out[ended.piece];
      if (interrupted && !piece.error.empty()) {
        piece = {"", kInterrupted};
      } else if (on_done) {
        on_done(ended.piece);
      }
    }
  }
  return out;
}

}  // namespace mrc::tools
