// `mrc exec`: runs a program so that it sees the soft device, in place of or beside the machine's RDMA
// devices.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "lib/discovery.h"
#include "tools/commands.h"

namespace mrc::tools {
namespace {

namespace fs = std::filesystem;
constexpr int kCannotRun = 127;  // as a shell says it

struct Options {
  std::string devices, spray_unit, udp_port;
  bool preload = false;
  std::vector<std::string> command;
};

/// lib/openmrc beside the folder that this command is in, whether installed or built.
fs::path library_folder() {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "lib" / "openmrc";
}

void put_first(const char* variable, const std::string& value, char separator) {
  const char* before = std::getenv(variable);
  const bool has = before != nullptr && *before != '\0';
  setenv(variable, has ? (value + separator + before).c_str() : value.c_str(), 1);
}

void set_if_given(const char* variable, const std::string& value) {
  if (!value.empty()) setenv(variable, value.c_str(), 1);
}

/// The program would find an empty list without a word; of what is wrong the library tells.
void tell_of_no_device() {
  const auto devices = lib::discover();
  if (devices && devices->empty())
    std::fputs(
        "mrc exec: there is no soft device: no interface that is up has an address, or MRC_DEVICES is "
        "empty; name one with -d\n",
        stderr);
}

int become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "mrc exec: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  return kCannotRun;
}

int run(const Options& options) {
  const fs::path folder = library_folder();
  const fs::path library = folder / "libibverbs.so.1";
  if (!fs::exists(library)) {
    std::fprintf(stderr, "mrc exec: there is no %s: build or install OpenMRC whole\n", library.c_str());
    return 1;
  }
  // Installed, libmrc is one folder up: in /usr the loader finds it, in any other prefix it would not.
  const fs::path above = folder.parent_path();
  if (above != "/usr/lib" && fs::exists(above / "libmrc.so.1")) put_first("LD_LIBRARY_PATH", above, ':');
  put_first("LD_LIBRARY_PATH", folder, ':');
  if (options.preload) put_first("LD_PRELOAD", library, ':');
  set_if_given("MRC_DEVICES", options.devices);
  set_if_given("MRC_SPRAY_UNIT", options.spray_unit);
  set_if_given("MRC_UDP_PORT", options.udp_port);
  tell_of_no_device();
  return become(options.command);
}

}  // namespace

Run exec(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "-d,--devices", options->devices,
         "interfaces of the devices: \"eth0,eth1;lo/127.0.0.2\" is mrc0 over two ports and mrc1 over one")
      ->type_name("LIST");
  app.add_option("--spray-unit", options->spray_unit,
                 "packets in a row on one path; 1 is the conformant mode, 0 as many as one send carries")
      ->type_name("N")
      ->check(CLI::Range(0, 64).description(""));
  app.add_option("--udp-port", options->udp_port, "instead of 4791")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535).description(""));
  app.add_flag("--preload", options->preload,
               "also preload, for a program that has the library's path built in");
  app.add_option("command", options->command, "after --, with its own options")
      ->required()
      ->type_name("COMMAND...");
  app.footer("Example: mrc exec -- ibv_devinfo\n         mrc exec -d lo -- ib_write_bw -d mrc0");
  return [options] { return run(*options); };
}

}  // namespace mrc::tools
