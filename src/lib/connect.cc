// openmrc/connect.h: two sides meet over TCP and move their queue pairs to RTS together.
#include <openmrc/connect.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "lib/connect_meet.h"
#include "lib/failure.h"

using namespace mrc;
using namespace mrc::lib;
using namespace mrc::lib::connect;

struct openmrc_listener {
  port::Fd socket;
};

struct openmrc_connection {
  port::Fd socket;
  openmrc_agreement agreed{};
  std::vector<std::uint8_t> peer_data;
  bool said_goodbye = false, heard_goodbye = false;
};

namespace {

int fail(const Error& error) {
  note_failure(error.what);
  return error.code;
}
int fail(int code, std::string what) { return fail(Error{code, std::move(what)}); }

int check_data(const void* data, std::size_t size) {
  if (data == nullptr && size > 0) return fail(EINVAL, "data is NULL, and size is not 0");
  if (size <= OPENMRC_MAX_DATA) return 0;
  return fail(EINVAL, "at most " + std::to_string(OPENMRC_MAX_DATA) + " bytes of data");
}

/// Waits for the peer's goodbye. What it wanted to exchange before is of no use any more.
Status hear_goodbye(openmrc_connection& c, Time deadline) {
  while (!c.heard_goodbye) {
    const auto message = receive_message(c.socket.get(), deadline);
    if (!message) return message.error();
    c.heard_goodbye = static_cast<Type>((*message)[0]) == Type::bye;
  }
  return Done{};
}

int finish(Result<Met> met, openmrc_connection** out) {
  if (!met) return fail(met.error());
  *out = new openmrc_connection{std::move(met->socket), met->agreed, std::move(met->peer_data)};
  return 0;
}

}  // namespace

extern "C" {

void openmrc_default_params(openmrc_params* params) {
  *params = {};
  params->port_num = 1;
  params->gid_index = 3;
  params->path_mtu = IBV_MTU_4096;
  params->mpr_dest = 64;
  params->max_wimm_dest = 1024;
  params->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  params->timeout = 14;
  params->linear_retries = 7;
  params->exp_retries = 7;
}

int openmrc_prepare(mrc_qp** qps, int count, const openmrc_params* params) {
  openmrc_params p;
  openmrc_default_params(&p);
  if (params != nullptr) p = *params;
  if (qps == nullptr || count < 1) return fail(EINVAL, "no queue pairs");
  for (mrc_qp* qp : std::span(qps, static_cast<std::size_t>(count))) {
    if (auto moved = to_init(qp, p); !moved) return fail(moved.error());
  }
  return 0;
}

int openmrc_listen(const char* host, const char* service, openmrc_listener** out) {
  if (out == nullptr) return fail(EINVAL, "nowhere to put the listener");
  auto socket = listen_tcp(host, service != nullptr ? service : OPENMRC_DEFAULT_PORT);
  if (!socket) return fail(socket.error());
  *out = new openmrc_listener{std::move(*socket)};
  return 0;
}

int openmrc_listener_port(const openmrc_listener* listener) { return local_port(listener->socket.get()); }
int openmrc_listener_fd(const openmrc_listener* listener) { return listener->socket.get(); }
void openmrc_destroy_listener(openmrc_listener* listener) { delete listener; }

int openmrc_accept(openmrc_listener* listener, ibv_context* context, mrc_qp** qps, int count,
                   const openmrc_params* params, const void* data, size_t size, int timeout_ms,
                   openmrc_connection** out) {
  const Time deadline = deadline_after(timeout_ms);
  if (listener == nullptr || out == nullptr) return fail(EINVAL, "no listener");
  if (const int error = check_data(data, size); error != 0) return error;
  const auto party = make_party(context, qps, count, params);
  if (!party) return fail(party.error());
  return finish(meet_caller(listener->socket.get(), *party, {data, size}, deadline), out);
}

int openmrc_connect(const char* host, const char* service, ibv_context* context, mrc_qp** qps, int count,
                    const openmrc_params* params, const void* data, size_t size, int timeout_ms,
                    openmrc_connection** out) {
  const Time deadline = deadline_after(timeout_ms);
  if (host == nullptr || out == nullptr) return fail(EINVAL, "no host to connect to");
  if (const int error = check_data(data, size); error != 0) return error;
  const auto party = make_party(context, qps, count, params);
  if (!party) return fail(party.error());
  const char* port = service != nullptr ? service : OPENMRC_DEFAULT_PORT;
  auto socket = connect_tcp(host, port, deadline);
  if (!socket) return fail(socket.error());
  return finish(meet_listener(*std::move(socket), *party, {data, size}, deadline), out);
}

const openmrc_agreement* openmrc_agreed(const openmrc_connection* connection) { return &connection->agreed; }

const void* openmrc_peer_data(const openmrc_connection* connection, size_t* size) {
  if (size != nullptr) *size = connection->peer_data.size();
  return connection->peer_data.data();
}

int openmrc_exchange(openmrc_connection* connection, const void* data, size_t size, void* peer,
                     size_t* peer_size, int timeout_ms) {
  if (connection == nullptr || connection->said_goodbye) return fail(EINVAL, "no connection any more");
  if (const int error = check_data(data, size); error != 0) return error;
  if (connection->heard_goodbye) return fail(ECONNRESET, "the peer said goodbye");
  const Time deadline = deadline_after(timeout_ms);
  const int socket = connection->socket.get();
  const std::span body(static_cast<const std::uint8_t*>(data), size);
  if (auto sent = send_message(socket, emit(Type::data, body), deadline); !sent) return fail(sent.error());
  const auto answer = expect(socket, Type::data, deadline, &connection->heard_goodbye);
  if (!answer) return fail(answer.error());
  const size_t room = peer_size != nullptr ? *peer_size : 0;
  if (peer_size != nullptr) *peer_size = answer->size();
  if (peer != nullptr && !answer->empty()) std::memcpy(peer, answer->data(), std::min(room, answer->size()));
  return answer->size() > room && peer_size != nullptr ? fail(EMSGSIZE, "the peer sent more than fits") : 0;
}

int openmrc_connection_fd(const openmrc_connection* connection) { return connection->socket.get(); }

int openmrc_say_goodbye(openmrc_connection* connection) {
  if (connection == nullptr) return fail(EINVAL, "no connection");
  if (connection->said_goodbye) return 0;
  connection->said_goodbye = true;
  const auto sent = send_message(connection->socket.get(), emit(Type::bye), deadline_after(0));
  return sent ? 0 : fail(sent.error());
}

int openmrc_close(openmrc_connection* connection, int timeout_ms) {
  const std::unique_ptr<openmrc_connection> gone(connection);
  const Time deadline = deadline_after(timeout_ms);
  const int error = openmrc_say_goodbye(connection);
  if (connection == nullptr || (error != 0 && !connection->heard_goodbye)) return error;
  const Status heard = hear_goodbye(*connection, deadline);
  return heard ? 0 : fail(heard.error());
}

const char* openmrc_error(void) { return last_failure(); }

}  // extern "C"
