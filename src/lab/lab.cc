#include "lab/lab.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>

#include "lab/keeper.h"
#include "lab/offspring.h"
#include "lab/soft_nodes.h"

namespace mrc::lab {
namespace {

using port::errno_error;

/// In the keeper: makes the fabric, says so to the starter, serves.
Status keep(const topo::Topology& topo, const LabSettings& settings, Fd& listener, Fd& starter) {
  auto wiring = Wiring::make(topo, settings.wiring);
  if (!wiring) return wiring.error();
  if (auto started = start_soft_nodes(*wiring); !started) return started;
  Faults faults(*wiring);
  if (auto done = faults.set_up(); !done) return done;
  if (auto said = send_answer(starter.get(), {}, {}); !said) return said;
  if (!settings.owned) starter.reset();
  Keeper keeper(*wiring, faults);
  keeper.run(listener.get(), starter.get());
  listener.reset();  // before the clients hear of the end: then the name is free
  return Done{};
}

/// The keeper may outlive its starter: it holds none of its pipes, files and terminals.
void let_go_of_the_rest(bool owned, std::set<int> needed) {
  Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= (owned ? 1 : 2); ++fd) ::dup2(nothing.get(), fd);
  nothing.reset();
  hold_only(std::move(needed));
}

/// In the first child: becomes a keeper's parent, whose only child is the first process of its namespace.
[[noreturn]] void found(const topo::Topology& topo, const LabSettings& settings, Fd& listener, Fd& starter) {
  ::setsid();
  let_go_of_the_rest(settings.owned, {listener.get(), starter.get()});
  Status done = become_keeper();
  if (done) {
    const pid_t keeper = ::fork();
    if (keeper > 0) ::_exit(0);
    if (keeper == 0) done = keep(topo, settings, listener, starter);
    if (keeper < 0) done = errno_error("fork");
  }
  if (!done) (void)send_answer(starter.get(), {done.error().code, done.error().what, {}}, {});
  ::_exit(done ? 0 : 1);
}

bool same_space(int fd, const char* ours) {
  struct stat a {
  }, b{};
  return ::fstat(fd, &a) == 0 && ::stat(ours, &b) == 0 && a.st_ino == b.st_ino;
}

}  // namespace

bool is_forbidden(const Error& error) {
  return error.code == EPERM && error.what.starts_with(kMachineForbids);
}

Result<Lab> Lab::start(const topo::Topology& topo, const LabSettings& settings) {
  Fd listener;
  if (!settings.name.empty()) {
    auto listening = listen_as(settings.name);
    if (!listening) return listening.error();
    listener = *std::move(listening);
  }
  auto child = fork_with_channel();
  if (!child) return child.error();
  if (child->pid == 0) found(topo, settings, listener, child->channel);
  ::waitpid(child->pid, nullptr, 0);
  const auto ready = receive_answer(child->channel.get());
  if (!ready) return ready.error();
  if (ready->code != 0) return Error{ready->code, ready->text};
  return Lab(std::move(child->channel));
}

Result<Lab> Lab::find(const std::string& name) {
  auto channel = connect_to(name);
  if (!channel) return channel.error();
  return Lab(*std::move(channel));
}

Result<Answer> Lab::ask(const Words& words) {
  if (auto sent = send_words(channel_.get(), words); !sent) return sent.error();
  auto answer = receive_answer(channel_.get());
  if (answer && answer->code != 0) return Error{answer->code, answer->text};
  return answer;
}

Status Lab::tell(const Words& words) {
  const auto answer = ask(words);
  return answer ? Status(Done{}) : answer.error();
}

Status Lab::fail(const std::string& target, bool silent) {
  return tell({"fail", target, silent ? "silent" : "admin"});
}
Status Lab::heal(const std::string& target) {
  return target.empty() ? tell({"heal"}) : tell({"heal", target});
}
Status Lab::drop(const std::string& target, double share) {
  return tell({"drop", target, std::to_string(share)});
}
Status Lab::rate(const std::string& target, std::uint64_t bits_per_second) {
  return tell({"rate", target, std::to_string(bits_per_second)});
}
Status Lab::flap(const std::string& target, std::chrono::microseconds down, std::chrono::microseconds up,
                 std::uint32_t times, bool silent) {
  return tell({"flap", target, std::to_string(down.count()), std::to_string(up.count()),
               std::to_string(times), silent ? "silent" : "admin"});
}

Result<std::string> Lab::status() {
  auto answer = ask({"status"});
  return answer ? Result<std::string>(answer->text) : answer.error();
}
Result<std::string> Lab::topology() {
  auto answer = ask({"topology"});
  return answer ? Result<std::string>(answer->text) : answer.error();
}

Status Lab::end() {
  if (auto told = tell({"down"}); !told) return told;
  (void)receive_answer(channel_.get());  // ends when the keeper has
  return Done{};
}

Result<Answer> Lab::go(const std::string& node) {
  auto spaces = ask({"enter", node});
  if (!spaces) return spaces;
  if (spaces->descriptors.size() != 3) return Error{EPROTO, "the lab sent no namespaces"};
  const int user = spaces->descriptors[1].get();
  if (!same_space(user, "/proc/self/ns/user") && ::setns(user, CLONE_NEWUSER) != 0)
    return errno_error("enter the lab's user namespace");
  if (auto entered = enter_network_namespace(spaces->descriptors[0].get()); !entered) return entered.error();
  ::setenv("MRC_LAB_NODE", node.c_str(), 1);
  if (!spaces->text.empty()) ::setenv("MRC_DEVICES", spaces->text.c_str(), 1);
  ::setenv("MRC_SOCKET", kHostDaemon, 0);
  return spaces;
}

Status Lab::enter(const std::string& node) {
  const auto gone = go(node);
  return gone ? Status(Done{}) : gone.error();
}

Result<int> Lab::execute(const std::string& node, const std::vector<std::string>& command) {
  auto spaces = go(node);
  if (!spaces) return spaces.error();
  if (::setns(spaces->descriptors[2].get(), CLONE_NEWPID) != 0)
    return errno_error("enter the lab's PID namespace");
  const pid_t child = ::fork();
  if (child < 0) return errno_error("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    std::fprintf(stderr, "mrc lab exec: %s: %s\n", words[0], std::strerror(errno));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  ::signal(SIGINT, SIG_IGN);  // the program's to handle: it is in the same terminal
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ::signal(SIGINT, SIG_DFL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace mrc::lab
