#include "lib/connect_meet.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lib/connect_terms.h"
#include "lib/progress.h"
#include "lib/soft_context.h"

namespace mrc::lib::connect {
namespace {

/// A side has this much longer for each of its queue pairs, which it moves meanwhile.
constexpr Duration kPerQp = 1ms;

Status all_to_rtr(const Party& party, const Agreement& agreed, const Hello& theirs) {
  for (std::size_t i = 0; i < party.qps.size(); ++i) {
    if (state_of(party.qps[i]) == IBV_QPS_RESET) {
      if (auto moved = to_init(party.qps[i], party.params); !moved) return moved;
    }
    if (auto moved = to_rtr(party.qps[i], party, agreed, theirs.gid, theirs.qps[i]); !moved) return moved;
  }
  return Done{};
}

Status all_to_rts(const Party& party, const Agreement& agreed, const Hello& ours) {
  for (std::size_t i = 0; i < party.qps.size(); ++i) {
    if (auto moved = to_rts(party.qps[i], party, agreed, ours.qps[i].psn); !moved) return moved;
  }
  return Done{};
}

openmrc_agreement public_form(const Agreement& agreed, const Gid& peer) {
  openmrc_agreement a = {static_cast<ibv_mtu>(agreed.mtu),
                         agreed.mpr,
                         agreed.max_wimm,
                         agreed.dynamic_mpr,
                         agreed.peer_trim_nack,
                         agreed.peer_service_time,
                         {}};
  std::memcpy(a.peer_gid.raw, peer.data(), peer.size());
  return a;
}

/// One handshake over an open TCP connection, as either side.
class Handshake {
 public:
  Handshake(int socket, const Party& party, Hello ours, Time deadline, Duration silence)
      : socket_(socket),
        party_(party),
        terms_(soft_context(party.context)->device()->wire_terms()),
        ours_(std::move(ours)),
        deadline_(deadline),
        silence_(silence) {}

  // A listener may still be busy with others: until it greets, it has all the time there is.
  Status call() {
    if (auto said = say(emit(ours_), deadline_); !said) return said;
    if (auto heard = hear_hello(deadline_); !heard) return heard;
    if (auto fits = judge(); !fits) return fits;
    if (auto moved = all_to_rtr(party_, agreed_, theirs_); !moved) return moved;
    if (auto said = say(emit_ready(terms_), patience()); !said) return said;
    if (auto ready = hear_ready(); !ready) return ready;
    return all_to_rts(party_, agreed_, ours_);
  }

  // Nobody sends before both accept. What does not fit is told by the greeting too: so each side finds it,
  // and says it in its own words.
  Status listen() {
    if (auto heard = hear_hello(patience()); !heard) return heard;
    if (auto said = say(emit(ours_), patience()); !said) return said;
    if (auto fits = judge(); !fits) return fits;
    const auto ready = hear_ready();
    if (!ready && ready.error().code != EINVAL) return ready;
    const auto moved = ready ? all_to_rtr(party_, agreed_, theirs_) : Status(Done{});
    if (!moved) return moved;
    if (auto said = say(emit_ready(terms_), patience()); !said) return said;
    return ready ? all_to_rts(party_, agreed_, ours_) : ready;
  }

  Met result(port::Fd socket) {
    return {std::move(socket), public_form(agreed_, theirs_.gid), std::move(theirs_.data)};
  }

 private:
  Status hear_hello(Time deadline) {
    const auto greeting = hear(Type::hello, deadline);
    if (!greeting) return greeting.error();
    auto parsed = parse_hello(*greeting);
    if (!parsed) return parsed.error();
    theirs_ = std::move(*parsed);
    greeted_ = true;
    return Done{};
  }
  Status judge() {
    const auto agreed = agree(ours_, theirs_, party_.limits);
    if (!agreed) return agreed.error();
    agreed_ = *agreed;
    return Done{};
  }
  /// EINVAL: the peer's process is set otherwise.
  Status hear_ready() {
    const auto ready = hear(Type::ready, patience());
    return ready ? agree_on_terms(terms_, *ready) : Status(ready.error());
  }

  Status say(const Message& message, Time until) {
    const Status said = send_message(socket_, message, until);
    return said ? said : Status(in_words(said.error()));
  }
  Result<Message> hear(Type type, Time until) {
    auto message = expect(socket_, type, until);
    return message ? std::move(message) : Result<Message>(in_words(message.error()));
  }
  Error in_words(const Error& error) const {
    if (error.code != ETIMEDOUT || steady_now() >= deadline_) return error;
    return {ETIMEDOUT, peer_name(socket_) +
                           (greeted_ ? " greeted and then said nothing" : " did not finish its greeting") +
                           " for " + std::to_string(silence_ / 1s) + " s"};
  }
  Time patience() const {
    return std::min(deadline_, steady_now() + silence_ + kPerQp * static_cast<int>(party_.qps.size()));
  }

  const int socket_;
  const Party& party_;
  const WireTerms terms_;
  const Hello ours_;
  Hello theirs_;
  Agreement agreed_;
  bool greeted_ = false;
  const Time deadline_;
  const Duration silence_;
};

/// The peer hears why, if it still listens.
Error refuse(int socket, const Error& error) {
  const std::string& why = error.what;
  const Message refusal =
      emit(Type::refused, {reinterpret_cast<const std::uint8_t*>(why.data()), why.size()});
  (void)static_cast<bool>(send_message(socket, refusal, deadline_after(100)));
  return error;
}

}  // namespace

Result<Message> expect(int socket, Type type, Time deadline, bool* heard_goodbye) {
  auto message = receive_message(socket, deadline);
  if (!message) return message;
  const auto got = static_cast<Type>((*message)[0]);
  message->erase(message->begin());
  if (got == type) return message;
  if (got == Type::refused) {
    return Error{ECONNREFUSED, "the peer refused: " + std::string(message->begin(), message->end())};
  }
  if (got == Type::bye && heard_goodbye != nullptr) *heard_goodbye = true;
  if (got == Type::bye) return Error{ECONNRESET, "the peer said goodbye"};
  return Error{EPROTO, "the peer sent something out of turn"};
}

Result<Met> meet_listener(port::Fd socket, const Party& party, const Gift& gift, Time deadline,
                          Duration silence) {
  auto ours = make_hello(party, gift.data, gift.size);
  if (!ours) return ours.error();
  Handshake handshake(socket.get(), party, *std::move(ours), deadline, silence);
  watch_way(socket.get(), true);
  const auto met = handshake.call();
  if (!met) return refuse(socket.get(), met.error());
  watch_way(socket.get(), false);
  return handshake.result(std::move(socket));
}

Result<Met> meet_caller(int listener, const Party& party, const Gift& gift, Time deadline, Duration silence) {
  std::string last;
  while (true) {
    auto ours = make_hello(party, gift.data, gift.size);  // before anybody comes: it may not be possible
    if (!ours) return ours.error();
    auto caller = accept_speaker(listener, deadline, silence);
    if (!caller) return Error{caller.error().code, caller.error().what + last};
    Handshake handshake(caller->get(), party, *std::move(ours), deadline, silence);
    const auto met = handshake.listen();
    if (met) return handshake.result(*std::move(caller));
    const Error error = refuse(caller->get(), met.error());
    if (error.code != ETIMEDOUT || steady_now() >= deadline) return error;
    std::fprintf(stderr, "libmrc: %s: given up, and the next caller has its turn\n", error.what.c_str());
    last = " (" + error.what + ")";
  }
}

}  // namespace mrc::lib::connect
