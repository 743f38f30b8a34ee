// `mrc web`: a page that shows a fabric at work.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "node/message_socket.h"
#include "scenario/document.h"
#include "tools/commands.h"
#include "view/lab_source.h"
#include "view/node_source.h"
#include "view/recording.h"
#include "view/sim_source.h"
#include "web/app.h"
#include "web/assets.h"

namespace mrc::tools {
namespace {

struct WebOptions {
  std::string scenario, recording, lab, record, socket, fabric;
  bool node = false, json = false;
  std::vector<std::string> settings;
  web::AppSettings app;
  view::SimSettings sim;
  std::string pace;
};

constexpr std::chrono::milliseconds kLabFrameEvery{200};
std::atomic<bool> stop_now{false};

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc web: %s\n", sentence.c_str());
  return 1;
}

Result<scenario::Scenario> read_scenario(const WebOptions& o) {
  auto document = scenario::Document::read(o.scenario);
  if (!document) return document.error();
  for (const std::string& s : o.settings) {
    if (auto done = document->set(s); !done) return done.error();
  }
  return document->scenario();
}

template <class Made>
Result<std::unique_ptr<view::Source>> as_source(Result<std::unique_ptr<Made>> made) {
  if (!made) return made.error();
  return std::unique_ptr<view::Source>(std::move(*made));
}

Result<std::unique_ptr<view::Source>> open_node(const WebOptions& o) {
  view::NodeSettings settings{.socket = o.socket.empty() ? node::daemon_socket() : o.socket, .fabric = {}};
  if (!o.fabric.empty()) {
    const auto spec = topo::read_spec(o.fabric);
    if (!spec) return spec.error();
    const auto topo = topo::Topology::make(*spec);
    if (!topo) return topo.error();
    settings.fabric = *topo;
  }
  return as_source(view::NodeSource::attach(settings));
}

Result<std::unique_ptr<view::Source>> make_source(WebOptions& o) {
  if (o.recording.empty() && view::is_recording(o.scenario)) o.recording = o.scenario;
  if (!o.recording.empty()) return as_source(view::RecordingSource::open(o.recording));
  if (!o.lab.empty()) return as_source(view::LabSource::attach(o.lab, kLabFrameEvery));
  if (o.node) return open_node(o);
  if (!o.pace.empty()) {
    const auto pace = topo::parse_delay(o.pace);
    if (!pace) return pace.error();
    o.sim.pace = static_cast<double>(pace->count()) / 1e9;
  }
  auto scenario = read_scenario(o);
  if (!scenario) return scenario.error();
  return as_source(view::SimSource::make(std::move(*scenario), o.sim));
}

int serve(WebOptions& o) {
  if (o.scenario.empty() && o.recording.empty() && o.lab.empty() && !o.node)
    return fail("nothing to show: name a scenario, --lab NAME, --node or --trace FILE"), kUsageError;
  if (web::assets().empty()) std::fprintf(stderr, "mrc web: %s\n", std::string(web::why_not_built()).c_str());
  auto source = make_source(o);
  if (!source) return fail(source.error().what);
  if (!http::is_loopback_name(o.app.address)) o.app.token = web::make_token();
  std::unique_ptr<view::Recorder> recorder;
  if (!o.record.empty()) {
    auto opened = view::Recorder::open(o.record, (*source)->fabric());
    if (!opened) return fail(opened.error().what);
    recorder = std::move(*opened);
    o.app.on_frame = [&](const std::string& frame) { recorder->add(frame); };
  }
  const auto app = web::App::start(**source, o.app);
  if (!app) return fail(app.error().what + (app.error().code == EADDRINUSE ? " (--port names another)" : ""));
  const view::Fabric& shown = (*source)->fabric();
  JsonWriter told;
  told.begin_object().field("url", (*app)->url()).field("source", shown.source).field("name", shown.name);
  std::printf("%s\n", o.json ? told.end_object().text().c_str() : (*app)->url().c_str());
  std::fflush(stdout);
  const auto stop = [](int) { stop_now = true; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  (*app)->run(stop_now);
  source->reset();  // before the app: its thread tells the app
  const Status recorded = recorder ? recorder->close() : Done{};
  return recorded ? 0 : fail(recorded.error().what);
}

}  // namespace

Run web(CLI::App& app) {
  auto o = std::make_shared<WebOptions>();
  app.add_option("scenario", o->scenario,
                 "simulate this scenario, as `mrc sim` does; or show this recording");
  app.add_option("--trace", o->recording, "show a recording")->excludes("scenario");
  app.add_option("--lab", o->lab, "show a running lab, as `mrc lab up` names it")
      ->excludes("scenario", "--trace");
  auto* node = app.add_flag("--node", o->node, "show this node, as its mrcd tells");
  node->excludes("scenario", "--trace", "--lab");
  app.add_option("--socket", o->socket, "where mrcd listens (MRC_SOCKET)")->type_name("PATH")->needs(node);
  app.add_option("--fabric", o->fabric, "the topology file of the fabric that the node is in")
      ->type_name("FILE")
      ->needs(node);
  app.add_option("--record", o->record, "write what is shown to a file, for --trace");
  app.add_option("--set", o->settings, "change a value of the scenario: job.0.bytes=1000000")
      ->allow_extra_args(false);
  app.add_option("--pace", o->pace, "simulated time per second, such as 200us");
  app.add_option("--host", o->sim.host, "whose packets are shown one by one");
  app.add_option("--listen", o->app.address, "address; another than loopback needs the token that is printed")
      ->capture_default_str();
  app.add_option("--port", o->app.port, "TCP port; 0: a free one")->capture_default_str();
  app.add_flag("--json", o->json, "the page's address in one JSON object");
  app.footer(
      "Example: mrc web share/scenarios/watch.toml\n"
      "Prints the page's address and serves it until interrupted.");
  return [o] { return serve(*o); };
}

}  // namespace mrc::tools
