// Calls about the system rather than a device: sysfs, and fork.
//
// fork: the memory of a soft device is ordinary memory, so nothing has to be kept from being copied.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <string>

extern "C" {

const char* ibv_get_sysfs_path(void) { return "/sys"; }

/// The file's text without the newline at its end; how long it is, or -1.
int ibv_read_sysfs_file(const char* folder, const char* file, char* buffer, std::size_t size) {
  const int fd = open((std::string(folder) + "/" + file).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, buffer, size);
  close(fd);
  if (length <= 0) return static_cast<int>(length);
  if (buffer[length - 1] == '\n') {
    buffer[length - 1] = '\0';
    return static_cast<int>(length - 1);
  }
  if (static_cast<std::size_t>(length) < size) buffer[length] = '\0';
  return static_cast<int>(length);
}

int ibv_fork_init(void) { return 0; }
ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
int ibv_dontfork_range(void*, std::size_t) { return 0; }
int ibv_dofork_range(void*, std::size_t) { return 0; }

}  // extern "C"
