// mrcd: the node's daemon. Reads its options, opens its devices, serves until it is told to stop.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "daemon/daemon.h"
#include "daemon/listen.h"
#include "daemon/version.h"
#include "lib/nic_device.h"
#include "node/message_socket.h"

namespace {

using namespace mrc;

constexpr int kUsageError = 2;

struct Options {
  daemon::Settings settings;
  std::string devices;
  std::string fabric, host;
  bool has_devices = false, foreground = false, no_state = false, no_endpoint = false;
};

int complain(const Error& error) {
  std::fprintf(stderr, "mrcd: %s\n", error.what.c_str());
  return 1;
}

/// Many processes, each with a connection and with sockets.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// SIGTERM, SIGINT and, of a terminal that closes, SIGHUP as something to poll; no thread gets them any other
/// way.
port::Fd stop_signals(bool foreground) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (foreground)
    sigaddset(&set, SIGHUP);
  else
    ::signal(SIGHUP, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return port::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// A device that does not open costs its endpoint operations, not the profiles.
void open_devices(daemon::Daemon& mrcd) {
  ::setenv("MRC_SOCKET", "", 1);  // that is ourselves
  const auto configs = lib::discover();
  const auto go_on_without = [](const Error& why) {
    complain(
        {why.code, why.what + "; it serves without a device of its own: start it again when that is mended"});
  };
  if (!configs) return go_on_without(configs.error());
  auto settings = lib::read_device_settings();
  if (!settings) return go_on_without(settings.error());
  settings->is_node = true;
  for (const lib::DeviceConfig& config : *configs) {
    auto device = lib::NicDevice::open(config, *settings);
    if (device) {
      mrcd.add_own(*device);
    } else {
      std::fprintf(stderr, "mrcd: %s answers no endpoint operations: %s\n", config.name.c_str(),
                   device.error().what.c_str());
    }
  }
}

/// In the background, but only once it serves: who started it waits until then, and hears what went wrong.
class Detachment {
 public:
  /// In the parent, never returns.
  void begin() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::exit(complain(port::errno_error("open a pipe")));
    const pid_t child = ::fork();
    if (child < 0) std::exit(complain(port::errno_error("fork")));
    if (child > 0) {
      ::close(ends[1]);
      char ready = 0;
      ::_exit(::read(ends[0], &ready, 1) == 1 ? 0 : 1);
    }
    ::close(ends[0]);
    ready_ = port::Fd(ends[1]);
    ::setsid();
  }
  void end() {
    if (!ready_) return;
    const port::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : {0, 1, 2}) ::dup2(nothing.get(), fd);
    [[maybe_unused]] const auto written = ::write(ready_.get(), "r", 1);
    ready_.reset();
  }

 private:
  port::Fd ready_;
};

int serve(Options o) {
  Detachment detachment;
  if (!o.foreground) detachment.begin();
  raise_file_limit();
  const port::Fd stop = stop_signals(o.foreground);
  daemon::Daemon mrcd(o.settings);
  if (auto opened = mrcd.open(daemon::inherited_socket()); !opened) return complain(opened.error());
  if (o.has_devices) ::setenv("MRC_DEVICES", o.devices.c_str(), 1);
  if (!o.no_endpoint) open_devices(mrcd);
  if (!o.fabric.empty()) {
    auto mapping = daemon::Mapping::open(o.fabric, o.host);
    if (!mapping) return complain(mapping.error());
    mrcd.map_with(std::move(*mapping));
  }
  std::fprintf(stderr, "mrcd: serving at %s\n", o.settings.socket.c_str());
  if (mrcd.metrics_port() != 0) std::fprintf(stderr, "mrcd: metrics at port %u\n", mrcd.metrics_port());
  detachment.end();
  mrcd.run(stop.get());
  return 0;
}

/// "0660" as the number that it is. Anything else would let nobody in, or everybody.
std::string octal_mode(const std::string& text) {
  char* end = nullptr;
  const unsigned long mode = std::strtoul(text.c_str(), &end, 8);
  if (text.empty() || *end != '\0' || mode > 0777)
    throw CLI::ValidationError("'" + text + "' is no mode in octal, such as 0660");
  return std::to_string(mode);
}

int fill_defaults(Options& o) {
  if (o.settings.socket.empty()) {
    auto socket = node::own_daemon_socket();
    if (!socket) return complain(socket.error());
    o.settings.socket = *socket;
  }
  if (o.settings.state_file.empty()) o.settings.state_file = daemon::default_state_file(o.settings.socket);
  if (o.no_state) o.settings.state_file.clear();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"The daemon of an MRC node: profiles, ports, counters and events for all processes", "mrcd"};
  app.set_version_flag("--version", daemon::kVersion);
  app.add_flag("--foreground", o.foreground, "stay attached; for systemd and for looking on");
  app.add_option("--socket", o.settings.socket,
                 "where to listen (MRC_SOCKET; /run/openmrc/mrcd.sock, or in XDG_RUNTIME_DIR for a user); "
                 "@NAME: for this network namespace alone, without a file")
      ->type_name("PATH");
  app.add_option("--socket-mode", o.settings.socket_mode, "who may connect, in octal (0666)")
      ->transform(octal_mode)
      ->type_name("MODE");
  app.add_option("--state", o.settings.state_file, "the file that keeps profiles across restarts")
      ->type_name("PATH");
  app.add_option("--metrics", o.settings.metrics,
                 "serve /metrics for Prometheus there; without an address, to this machine alone")
      ->type_name("[ADDRESS:]PORT")
      ->envname("MRCD_METRICS");
  app.add_flag("--no-state", o.no_state, "keep nothing across restarts");
  auto* devices = app.add_option("--devices", o.devices,
                                 "interfaces of the node's devices, as in MRC_DEVICES: \"eth0,eth1;eth2\"");
  devices->type_name("LIST");
  app.add_flag(
         "--no-endpoint", o.no_endpoint,
         "have no port of its own: programs with MRC_PORT=packet or xdp need the address for themselves, and "
         "answer endpoint operations while they run")
      ->excludes(devices);
  auto* fabric = app.add_option(
      "--map", o.fabric, "probe the fabric of this topology file, and deny EVs that meet what is broken");
  fabric->type_name("FILE");
  auto* host = app.add_option("--host", o.host, "which host of that fabric this node is: h0, h1, ...");
  fabric->needs(host);
  host->needs(fabric);
  app.footer("Example: mrcd --foreground --socket /tmp/mrcd.sock --devices lo\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUsageError;
  }
  o.has_devices = devices->count() > 0;
  if (const int failed = fill_defaults(o); failed != 0) return failed;
  return serve(std::move(o));
}
