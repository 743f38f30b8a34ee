#include "lib/failure.h"

namespace mrc::lib {
namespace {

thread_local std::string sentence_of_last;

}  // namespace

void note_failure(const std::string& sentence) { sentence_of_last = sentence; }
const std::string& last_failure() { return sentence_of_last; }

}  // namespace mrc::lib
