#include "node/metrics_page.h"

#include <cerrno>
#include <charconv>

namespace mrc::node {

Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  MetricsAddress out;
  const std::size_t colon = text.rfind(':');
  std::string_view digits = text;
  if (colon != std::string::npos) {
    digits = digits.substr(colon + 1);
    if (colon > 0) out.address = text.substr(0, colon);
  }
  if (out.address.starts_with('[') && out.address.ends_with(']'))
    out.address = out.address.substr(1, out.address.size() - 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    return Error{EINVAL, "metrics at \"" + text +
                             "\": give a TCP port, with an address before it unless it is for this machine "
                             "alone, such as 9464 or 10.0.0.1:9464 or [::1]:9464"};
  return out;
}

Result<std::unique_ptr<http::Server>> MetricsPage::listen(const std::string& where) {
  const auto at = parse_metrics_address(where);
  if (!at) return at.error();
  loopback_ = http::is_loopback_name(at->address);
  // MRC-NODE-009: a head of some kilobytes, no body, few seconds; who is silent longest makes room.
  http::ServerSettings settings;
  settings.limits.body_bytes = 0;  // nobody has anything to say here
  return http::Server::listen(at->address, at->port, *this, settings);
}

http::Response MetricsPage::overview() const {
  std::string text;
  for (const Page& page : pages_) text += page.path + "\n";
  return {200, "text/plain; charset=utf-8", std::move(text)};
}

http::Response MetricsPage::handle(const http::Request& request) {
  // A page from elsewhere may make a browser ask this machine by a name of its own: that is not for it to
  // read.
  if (loopback_ && !http::is_loopback_name(request.header("host")) && !request.header("host").empty())
    return http::text_response(403, "ask by a name of this machine, such as localhost");
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refused = http::text_response(405, "metrics are only read: GET");
    refused.headers.push_back({"Allow", "GET, HEAD"});
    return refused;
  }
  if (request.path == "/") return overview();
  for (const Page& page : pages_) {
    if (page.path != request.path) continue;
    const TextForm form = form_for(request.header("accept"));
    return {200, content_type(form), page.source(form)};
  }
  return http::text_response(404, "there is /metrics; / names all pages");
}

}  // namespace mrc::node
