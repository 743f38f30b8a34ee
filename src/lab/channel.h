// Words between the keeper of a lab and whoever commands it: one datagram each way on a Unix socket, file
// descriptors beside the answer. The socket's name is abstract, so nothing stays behind a killed lab.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::lab {

using port::Fd;

using Words = std::vector<std::string>;

struct Answer {
  int code = 0;  // 0, or the errno of a refusal, and `text` says why
  std::string text;
  std::vector<Fd> descriptors;
};

inline constexpr std::size_t kMaxMessage = 128 * 1024;
inline constexpr std::size_t kMaxDescriptors = 8;

/// EADDRINUSE when a lab of this name runs already.
Result<Fd> listen_as(const std::string& lab);
/// ENOENT when no lab of this name runs. Only a lab of the same user is answered and believed.
Result<Fd> connect_to(const std::string& lab);
/// The next client of the same user; nothing when it is somebody else.
Fd accept_client(int listener);

Status send_words(int fd, const Words& words);
Status send_answer(int fd, const Answer& answer, const std::vector<int>& descriptors);
/// Nothing: the other side has gone, or said something that is no message.
bool receive_words(int fd, Words& out);
Result<Answer> receive_answer(int fd);

}  // namespace mrc::lab
