#include "sim/ranks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

namespace mrc::sim {
namespace {

std::string beside_this_program(const std::string& name) {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return name;
  const std::string self(path, static_cast<std::size_t>(n));
  return self.substr(0, self.rfind('/') + 1) + name;
}

}  // namespace

bool started_by_mpirun() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr && std::atoi(size) > 1;
}

bool speaks_for_all() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return !started_by_mpirun() || rank == nullptr || std::atoi(rank) == 0;
}

Result<std::unique_ptr<Ranks>> join_ranks() {
  const std::string path = beside_this_program("mrc_mpi.so");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return Error{ENOENT, "this build has no MPI (" + std::string(dlerror()) +
                             "); install libopenmpi-dev and build again, or run without mpirun"};
  using Make = Ranks* (*)();
  const auto make = reinterpret_cast<Make>(dlsym(library, "mrc_make_ranks"));
  if (make == nullptr) return Error{EINVAL, path + " is not from this build; build again"};
  return std::unique_ptr<Ranks>(make());
}

}  // namespace mrc::sim
