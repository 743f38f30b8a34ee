#include "tools/lab_record.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "view/lab_source.h"
#include "view/recording.h"

namespace mrc::tools {
namespace {

constexpr std::chrono::milliseconds kEvery{100};

/// In the child: says a byte at the first frame, and goes on until the other end is closed.
Status record(const std::string& lab, const std::string& file, int line) {
  auto source = view::LabSource::attach(lab, kEvery);
  if (!source) return source.error();
  auto recorder = view::Recorder::open(file, (*source)->fabric());
  if (!recorder) return recorder.error();
  std::atomic<bool> begun{false};
  (*source)->start([&](const std::string& frame) {
    (*recorder)->add(frame);
    if (!begun.exchange(true)) (void)!::write(line, "+", 1);
  });
  char byte;
  while (::read(line, &byte, 1) < 0 && errno == EINTR) continue;
  source->reset();
  return (*recorder)->close();
}

}  // namespace

Result<std::unique_ptr<LabRecorder>> LabRecorder::start(const std::string& lab, const std::string& file) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return port::errno_error("socketpair");
  port::Fd ours(ends[0]), theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return port::errno_error("fork");
  if (child == 0) {
    ours.reset();
    ::signal(SIGINT, SIG_IGN);  // whoever started it says when it is enough
    const Status done = record(lab, file, theirs.get());
    if (!done) std::fprintf(stderr, "mrc lab run: %s\n", done.error().what.c_str());
    ::_exit(done ? 0 : 1);
  }
  theirs.reset();
  std::unique_ptr<LabRecorder> out(new LabRecorder(child, std::move(ours)));
  char byte;
  if (::read(out->line_.get(), &byte, 1) == 1) return out;
  (void)out->finish();
  return Error{EIO, "there will be no recording"};
}

Status LabRecorder::finish() {
  line_.reset();
  if (child_ <= 0) return Done{};
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  child_ = -1;
  return status == 0 ? Status(Done{}) : Error{EIO, "the recording is not whole"};
}

}  // namespace mrc::tools
