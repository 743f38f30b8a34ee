#include "web/app.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <charconv>
#include <climits>

#include "base/json.h"
#include "web/assets.h"

namespace mrc::web {
namespace {

using http::Request;
using http::Response;
using http::text_response;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'";
constexpr std::uint64_t kMostFramesPerPage = 2000;
constexpr std::size_t kSlowReader = 2u << 20;  // a stream this far behind skips frames

Response json_response(std::string body) { return {200, "application/json", std::move(body)}; }

std::optional<std::uint64_t> number(const Request& r, std::string_view name) {
  const auto text = r.parameter(name);
  if (!text) return {};
  std::uint64_t n = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), n);
  return problem == std::errc() && end == text->data() + text->size() ? std::optional(n) : std::nullopt;
}

/// Takes as long for any two texts of a length, so that nobody finds the token letter by letter.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

/// Who listens everywhere is found by the machine's name.
std::string host_in_url(const std::string& address) {
  char name[HOST_NAME_MAX + 1] = {};
  const bool anywhere = address == "0.0.0.0" || address == "::";
  if (anywhere && ::gethostname(name, HOST_NAME_MAX) == 0 && name[0] != 0) return name;
  return address.find(':') != std::string::npos ? "[" + address + "]" : address;
}

}  // namespace

std::string make_token() {
  unsigned char bytes[16];
  MRC_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  std::string out;
  for (const unsigned char b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

Result<std::unique_ptr<App>> App::start(view::Source& source, const AppSettings& settings) {
  if (settings.token.empty() && !http::is_loopback_name(settings.address))
    return Error{EINVAL, "others reach " + settings.address + ": a token is needed there"};
  std::unique_ptr<App> app(new App(source, settings));
  app->news_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  auto server = http::Server::listen(settings.address, settings.port, *app);
  if (!server) return server.error();
  app->server_ = std::move(*server);
  return app;
}

App::~App() = default;

std::string App::url() const {
  return "http://" + host_in_url(settings_.address) + ":" + std::to_string(port()) + "/" +
         (settings_.token.empty() ? "" : "?token=" + settings_.token);
}

void App::run(const std::atomic<bool>& stop) {
  source_.start([this](std::string f) { take_frame(std::move(f)); });
  while (!stop) {
    pollfd fds[] = {{server_->fd(), POLLIN, 0}, {news_.get(), POLLIN, 0}};
    ::poll(fds, 2, 100);
    server_->turn(std::chrono::milliseconds(0));
    if ((fds[1].revents & POLLIN) != 0) spread();
  }
}

/// In the source's thread.
void App::take_frame(std::string frame) {
  if (settings_.on_frame) settings_.on_frame(frame);
  history_.add(std::move(frame));
  const std::uint64_t one = 1;
  (void)!::write(news_.get(), &one, sizeof one);
}

void App::spread() {
  std::uint64_t count = 0;
  (void)!::read(news_.get(), &count, sizeof count);
  for (const std::uint64_t end = history_.end(); spread_ < end; ++spread_) {
    if (streams_.empty()) continue;
    const std::string event = http::event_text("frame", history_.at(spread_));
    for (const http::StreamId s : streams_) {
      if (server_->backlog(s) < kSlowReader) server_->send(s, event);
    }
  }
}

/// 0: welcome; else a status.
int App::refusal(const Request& r) const {
  if (settings_.token.empty()) {
    // A page from elsewhere reaches loopback by a name of its own (DNS rebinding), or says where it comes
    // from.
    if (!http::is_loopback_name(r.header("host"))) return 403;
    const std::string_view origin = r.header("origin");
    if (!origin.empty() && origin != "http://" + std::string(r.header("host"))) return 403;
    return 0;
  }
  const auto given = r.parameter("token"), kept = r.cookie("mrc_token");
  const std::string_view bearer = r.header("authorization");
  if (given && same(*given, settings_.token)) return 0;
  if (bearer.starts_with("Bearer ") && same(bearer.substr(7), settings_.token)) return 0;
  if (!kept || !same(*kept, settings_.token)) return 401;
  const std::string_view origin = r.header("origin");
  return origin.empty() || origin == "http://" + std::string(r.header("host")) ? 0 : 403;
}

Response App::handle(const Request& r) {
  if (const int status = refusal(r); status == 401)
    return text_response(401, "this page needs its token: open the address that `mrc web` printed");
  else if (status != 0)
    return text_response(status, "another site's page may not speak to this one");
  if (r.path == "/api/act") return act(r);
  if (r.method != "GET" && r.method != "HEAD") return text_response(405, "only GET here");
  return answer_get(r);
}

Response App::answer_get(const Request& r) {
  if (r.path == "/api/fabric") return fabric();
  if (r.path == "/api/frames")
    return json_response(history_.page(number(r, "from").value_or(0),
                                       std::min(number(r, "count").value_or(100), kMostFramesPerPage)));
  if (r.path == "/api/frame") {
    std::string frame = history_.at(number(r, "n").value_or(0));
    return frame.empty() ? text_response(404, "that frame is gone, or not there yet")
                         : json_response(std::move(frame));
  }
  if (r.path == "/api/path") return path(r);
  if (r.path == "/api/live") {
    Response out{.type = "text/event-stream", .body = "retry: 1000\n\n", .stream = true};
    if (const std::uint64_t end = history_.end(); end > history_.first())
      out.body += http::event_text("frame", history_.at(end - 1));
    return out;
  }
  return asset(r);
}

void App::on_open(http::StreamId stream, const Request&) { streams_.insert(stream); }

Response App::asset(const Request& r) const {
  const std::string_view path = r.path == "/index.html" ? "/" : std::string_view(r.path);
  for (const Asset& a : assets()) {
    if (a.path != path) continue;
    Response out{200, std::string(a.type), std::string(a.bytes)};
    if (a.path.starts_with("/assets/"))
      out.headers.emplace_back("Cache-Control", "max-age=31536000, immutable");
    out.headers.emplace_back("Content-Security-Policy", kPolicy);
    if (!settings_.token.empty() && path == "/")
      out.headers.emplace_back("Set-Cookie",
                               "mrc_token=" + settings_.token + "; HttpOnly; SameSite=Strict; Path=/");
    return out;
  }
  if (path == "/" && assets().empty()) return text_response(503, std::string(why_not_built()));
  return text_response(404, "there is no such page");
}

Response App::fabric() const {
  std::string text = view::to_json(source_.fabric());
  text.pop_back();
  return json_response(text + ",\"first\":" + std::to_string(history_.first()) +
                       ",\"end\":" + std::to_string(history_.end()) + "}");
}

Response App::path(const Request& r) const {
  const topo::Topology& topo = source_.topo();
  const auto from = number(r, "from"), to = number(r, "to"), plane = number(r, "plane");
  const auto up0 = number(r, "uplink0"), up1 = number(r, "uplink1");
  if (!from || !to || !plane || *from >= topo.hosts() || *to >= topo.hosts() || *from == *to ||
      *plane >= topo.planes())
    return text_response(400, "a path needs from, to and plane, which exist");
  const std::uint32_t uplinks0 = std::max(1u, topo.spec().t1), uplinks1 = std::max(1u, topo.spec().t2);
  const topo::Choice choice{static_cast<topo::Plane>(*plane),
                            static_cast<std::uint32_t>(up0.value_or(0) % uplinks0),
                            static_cast<std::uint32_t>(up1.value_or(0) % uplinks1)};
  const topo::Path p = topo.path(topo::HostId(static_cast<std::uint32_t>(*from)),
                                 topo::HostId(static_cast<std::uint32_t>(*to)), choice);
  JsonWriter json;
  json.begin_object().begin_array("hops");
  for (int i = 0; i < p.hop_count(); ++i) json.value(p.hops[static_cast<std::size_t>(i)].index());
  json.end_array().begin_array("names");
  for (int i = 0; i < p.hop_count(); ++i) json.value(topo.name(p.hops[static_cast<std::size_t>(i)]));
  json.end_array().end_object();
  return json_response(json.text());
}

Response App::act(const Request& r) {
  if (r.method != "POST") return text_response(405, "only POST here");
  // No form of another site can send this type without asking first.
  if (!r.header("content-type").starts_with("application/json"))
    return text_response(415, "an action is application/json");
  const auto action = view::parse_action(r.body);
  if (!action) return text_response(400, action.error().what);
  const Status done = source_.act(*action);
  return done ? json_response("{\"done\":true}") : text_response(409, done.error().what);
}

}  // namespace mrc::web
