// mrcd's socket against anybody who may connect to it.
#include <algorithm>

#include "base/check.h"
#include "node/framing.h"
#include "properties.h"

namespace mrc::fuzz {

void check_node(wire::Bytes input) {
  node::MessageStream stream;
  node::Message message;
  std::vector<std::uint8_t> again;
  // In two pieces: where a stream is cut must not matter.
  for (const auto piece : {input.first(input.size() / 3), input.subspan(input.size() / 3)}) {
    stream.append(piece);
    auto next = stream.next(message);
    for (; next == node::MessageStream::Next::message; next = stream.next(message)) {
      const std::size_t before = again.size();
      node::emit_message(message, again);
      MRC_CHECK(again.size() <= input.size());
      MRC_CHECK(std::equal(again.begin() + static_cast<std::ptrdiff_t>(before), again.end(),
                           input.begin() + static_cast<std::ptrdiff_t>(before)));
    }
    if (next == node::MessageStream::Next::malformed) return;
  }
}

}  // namespace mrc::fuzz
