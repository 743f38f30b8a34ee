#include "http/response.h"

namespace mrc::http {

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

std::string to_bytes(const Response& r, bool keep_alive, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(r.status) + " " + std::string(reason(r.status)) + "\r\n";
  out += "Content-Type: " + r.type + "\r\n";
  if (!r.stream) out += "Content-Length: " + std::to_string(r.body.size()) + "\r\n";
  out += keep_alive && !r.stream ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  out += "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n";
  bool cache = false;
  for (const auto& [name, value] : r.headers) {
    out += name + ": " + value + "\r\n";
    cache |= name == "Cache-Control";
  }
  if (!cache) out += "Cache-Control: no-store\r\n";
  out += "\r\n";
  if (!head_only) out += r.body;
  return out;
}

std::string event_text(std::string_view event, std::string_view data) {
  std::string out = "event: ";
  out.append(event).append("\ndata: ").append(data).append("\n\n");
  return out;
}

}  // namespace mrc::http
