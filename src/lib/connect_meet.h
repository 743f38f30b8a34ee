// Everything between a TCP connection and queue pairs in RTS.
//
// The caller speaks first. The listener touches its queue pairs only when the caller's are ready: whoever
// falls silent on the way costs it nothing but time, and that is bounded.
#pragma once

#include <openmrc/connect.h>

#include "lib/connect_party.h"
#include "lib/connect_socket.h"

namespace mrc::lib::connect {

/// Two that have met.
struct Met {
  port::Fd socket;
  openmrc_agreement agreed{};
  std::vector<std::uint8_t> peer_data;
};

/// What an application gives its peer.
struct Gift {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// With the one at the other end of `socket`, who may take until `deadline` to greet, but not longer than
/// `silence` afterwards.
Result<Met> meet_listener(port::Fd socket, const Party& party, const Gift& gift, Time deadline,
                          Duration silence = kSilence);
/// With the first caller that keeps nobody waiting for `silence`. One that does is let go, with a line on
/// stderr, and the next has its turn.
Result<Met> meet_caller(int listener, const Party& party, const Gift& gift, Time deadline,
                        Duration silence = kSilence);

/// The next message, which must be of this type. A refusal becomes its sentence.
Result<Message> expect(int socket, Type type, Time deadline, bool* heard_goodbye = nullptr);

}  // namespace mrc::lib::connect
