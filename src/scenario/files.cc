#include "scenario/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace mrc::scenario {
namespace {

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Error failed(const std::string& path, int code) {
  return {code, path + ": can not be written: " + std::strerror(code)};
}

/// A device or a pipe is written to: it must not make room for a file of its name.
bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Status write_in_place(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return failed(path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed ? Status(Done{}) : Status(failed(path, errno));
}

}  // namespace

Status can_write(const std::string& path) {
  std::error_code ignored;
  const std::string directory = directory_of(path);
  if (!std::filesystem::is_directory(directory, ignored))
    return Error{ENOENT,
                 path + ": can not be written: there is no directory " + directory + "; make it first"};
  if (std::filesystem::is_directory(path, ignored)) return failed(path, EISDIR);
  if (access(is_special(path) ? path.c_str() : directory.c_str(), W_OK) != 0) return failed(path, errno);
  return Done{};
}

Status write_file(const std::string& path, std::string_view text) {
  if (is_special(path)) return write_in_place(path, text);
  const std::string temporary = path + ".part." + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return failed(path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return Done{};
  const int code = errno;
  std::remove(temporary.c_str());
  return failed(path, code);
}

}  // namespace mrc::scenario
