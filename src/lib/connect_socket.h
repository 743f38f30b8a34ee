// TCP with deadlines: connect, accept, and whole messages, each within a time or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "lib/connect_message.h"
#include "port/fd.h"

namespace mrc::lib::connect {

/// When to give up; kNever for no limit.
Time deadline_after(int timeout_ms);

Result<port::Fd> listen_tcp(const char* host, const char* service);
/// Keeps trying until somebody listens there or the time is over: the peer may start a moment later.
Result<port::Fd> connect_tcp(const char* host, const char* service, Time deadline);
/// Until two sides have met, TCP asks whether its packets still arrive: whoever waits for a busy listener
/// must hear of a plane that died. Afterwards it must not: this goes over one plane, and a peer is not gone
/// because that one is dead. Whether any path leads to it is what queue pairs know.
inline constexpr Duration kWayTimeout = 5s;
void watch_way(int socket, bool watched);
Result<port::Fd> accept_tcp(int listener, Time deadline);
/// Of callers that speak first. Who says nothing for so long is let go, and the next one has its turn: a
/// monitor that only knocks, or a host that died, would keep all others waiting.
inline constexpr Duration kSilence = 10s;
Result<port::Fd> accept_speaker(int listener, Time deadline, Duration silence = kSilence);
int local_port(int socket);
/// The address at the other end.
std::string peer_name(int socket);

Status send_message(int socket, const Message& message, Time deadline);
/// ECONNRESET when the peer has gone; EHOSTDOWN when a way that is watched has.
Result<Message> receive_message(int socket, Time deadline);

}  // namespace mrc::lib::connect
