#include "lib/failure.h"

#include <algorithm>

namespace mrc::lib {
namespace {

// Plain bytes: nothing to destroy when a thread ends, at a time when little is left of it.
thread_local char sentence_of_last[1024];

}  // namespace

void note_failure(const std::string& sentence) {
  const std::size_t size = std::min(sentence.size(), sizeof sentence_of_last - 1);
  std::copy_n(sentence.begin(), size, sentence_of_last);
  sentence_of_last[size] = '\0';
}
const char* last_failure() { return sentence_of_last; }

}  // namespace mrc::lib
