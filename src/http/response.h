// What a server answers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrc::http {

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// The connection stays open for server-sent events; `body` is what the stream begins with.
  bool stream = false;
};

inline Response text_response(int status, std::string sentence) {
  return {status, "text/plain; charset=utf-8", std::move(sentence) + "\n"};
}

std::string_view reason(int status);
/// Status line, headers and body. Nothing is ever framed, sniffed or stored by others.
std::string to_bytes(const Response& response, bool keep_alive, bool head_only);
/// One server-sent event; `data` holds no line breaks.
std::string event_text(std::string_view event, std::string_view data);

}  // namespace mrc::http
