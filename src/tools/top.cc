// `mrc top`: a node, a fabric or a recording in a terminal.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "node/daemon_client.h"
#include "scenario/document.h"
#include "tools/commands.h"
#include "tools/real_range.h"
#include "tools/terminal.h"
#include "tools/top_picture.h"
#include "view/lab_source.h"
#include "view/recording.h"
#include "view/sim_source.h"

namespace mrc::tools {
namespace {

using std::chrono::milliseconds;

struct TopOptions {
  std::string scenario, recording, socket, lab;
  double every = 0.5;
  bool once = false, json = false;
};

constexpr milliseconds kBetweenTwo{500};   // pictures, where only one is wanted
constexpr milliseconds kLabSettles{1500};  // until its hosts were asked twice

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc top: %s\n", sentence.c_str());
  return 1;
}

/// Brings the picture up to date; false when there is nothing new.
class TopSource {
 public:
  virtual ~TopSource() = default;
  virtual Result<bool> refresh(TopPicture& picture) = 0;
  virtual std::string json() = 0;
  /// Nothing new will ever come.
  virtual bool over() const { return false; }
  /// Readable when something has happened; -1: nobody tells.
  virtual int news() const { return -1; }
  /// Of two pictures one makes a rate: how long after the first the second is there.
  virtual milliseconds settles() const { return milliseconds(0); }
};

/// The last frame of a source whose thread runs beside us.
class FrameTop final : public TopSource {
 public:
  FrameTop(std::unique_ptr<view::Source> source, milliseconds settles)
      : settles_(settles), source_(std::move(source)) {
    source_->start([this](std::string frame) {
      const std::lock_guard lock(mutex_);
      frames_.push_back(std::move(frame));
      if (frames_.size() > kMostWaiting) frames_.erase(frames_.begin());
    });
  }

  Result<bool> refresh(TopPicture& picture) override {
    std::vector<std::string> frames;
    {
      const std::lock_guard lock(mutex_);
      frames.swap(frames_);
    }
    picture.title = source_->fabric().name + "  (" + source_->fabric().source + ")";
    for (const std::string& f : frames) {  // each one, because of its events
      if (auto taken = reader_.take(f, picture); !taken) return taken.error();
    }
    if (!frames.empty()) last_ = std::move(frames.back());
    return !frames.empty();
  }
  std::string json() override { return last_; }
  bool over() const override { return reader_.over(); }
  milliseconds settles() const override { return settles_; }

 private:
  static constexpr std::size_t kMostWaiting = 256;

  const milliseconds settles_;
  std::mutex mutex_;
  std::vector<std::string> frames_;
  std::string last_;
  TopFrames reader_;
  std::unique_ptr<view::Source> source_;  // last: its thread speaks to what stands above
};

/// A recording, a frame at a time.
class RecordingTop final : public TopSource {
 public:
  explicit RecordingTop(std::unique_ptr<view::RecordingSource> source) : source_(std::move(source)) {}
  Result<bool> refresh(TopPicture& picture) override {
    picture.title = source_->fabric().name + "  (recording)";
    if (next_ == source_->frames().size()) return false;
    if (auto taken = reader_.take(source_->frames()[next_++], picture); !taken) return taken.error();
    return true;
  }
  std::string json() override { return next_ > 0 ? source_->frames()[next_ - 1] : "{}"; }
  bool over() const override { return next_ == source_->frames().size(); }

 private:
  std::unique_ptr<view::RecordingSource> source_;
  std::size_t next_ = 0;
  TopFrames reader_;
};

/// One for questions, one for what mrcd tells by itself.
struct NodeClients {
  node::DaemonClient asks, events;
};

Result<NodeClients> connect(const std::string& path) {
  auto asks = node::DaemonClient::open(path);
  if (!asks) return asks.error();
  auto events = node::DaemonClient::open(path);
  if (!events) return events.error();
  if (auto subscribed = events->subscribe(node::kAllEvents); !subscribed) return subscribed.error();
  return NodeClients{std::move(*asks), std::move(*events)};
}

/// A node. Its mrcd may be started again meanwhile, which no queue pair notices: nor does who looks on.
class NodeTop final : public TopSource {
 public:
  NodeTop(std::string path, NodeClients clients) : path_(std::move(path)), clients_(std::move(clients)) {}
  Result<bool> refresh(TopPicture& picture) override {
    if (!clients_) {
      const auto found = find_again(picture);
      if (!found || !*found) return found;
    }
    const auto fresh = read(picture);
    if (fresh || fresh.error().code != ECONNRESET) return fresh;
    clients_.reset();
    add_event(picture, "mrcd is gone; waiting for its return");
    return false;
  }
  std::string json() override { return node::to_json(last_); }
  int news() const override { return clients_ ? clients_->events.fd() : -1; }
  milliseconds settles() const override { return kBetweenTwo; }

 private:
  Result<bool> read(TopPicture& picture) {
    auto snapshot = clients_->asks.snapshot(true);
    if (!snapshot) return snapshot.error();
    last_ = std::move(*snapshot);
    reader_.take(last_, picture);
    for (;;) {
      const auto event = clients_->events.next_event(Duration(0));
      if (!event) return event.error();
      if (!*event) return true;
      add_event(picture, TopNode::text(**event));
    }
  }
  Result<bool> find_again(TopPicture& picture) {
    auto found = connect(path_);
    if (!found && node::may_return(found.error())) return false;
    if (!found) return found.error();
    clients_ = std::move(*found);
    add_event(picture, "mrcd is back");
    return true;
  }

  const std::string path_;
  std::optional<NodeClients> clients_;
  node::Snapshot last_;
  TopNode reader_;
};

Result<std::unique_ptr<TopSource>> open_node(const TopOptions& o) {
  const std::string path = o.socket.empty() ? node::daemon_socket() : o.socket;
  auto clients = connect(path);
  if (!clients)
    return Error{clients.error().code,
                 clients.error().what + "; is mrcd running? Or name a scenario, or --trace FILE"};
  return std::unique_ptr<TopSource>(std::make_unique<NodeTop>(path, std::move(*clients)));
}

Result<std::unique_ptr<TopSource>> open_source(const TopOptions& o) {
  const bool recorded = !o.recording.empty() || view::is_recording(o.scenario);
  if (recorded) {
    auto recording = view::RecordingSource::open(o.recording.empty() ? o.scenario : o.recording);
    if (!recording) return recording.error();
    return std::unique_ptr<TopSource>(std::make_unique<RecordingTop>(std::move(*recording)));
  }
  if (!o.lab.empty()) {
    auto lab = view::LabSource::attach(o.lab, milliseconds(500));
    if (!lab) return lab.error();
    return std::unique_ptr<TopSource>(std::make_unique<FrameTop>(std::move(*lab), kLabSettles));
  }
  if (o.scenario.empty()) return open_node(o);
  auto document = scenario::Document::read(o.scenario);
  if (!document) return document.error();
  auto scenario = document->scenario();
  if (!scenario) return scenario.error();
  auto sim = view::SimSource::make(std::move(*scenario), {});
  if (!sim) return sim.error();
  return std::unique_ptr<TopSource>(std::make_unique<FrameTop>(std::move(*sim), kBetweenTwo));
}

std::atomic<bool> stop_now{false};
constexpr milliseconds kLeastBetween{100};  // whatever happens

void print(const TopPicture& picture) {
  const TopLook look{.rows = static_cast<int>(picture.qps.size() + picture.lanes.size()) * 2 + 40,
                     .colour = false};
  for (const std::string& line : draw(picture, look)) {
    if (!line.empty() && line.find("q quit") == std::string::npos) std::printf("%s\n", line.c_str());
  }
}

/// Without a terminal: a picture after each interval, as text. A source that has nothing new is late, or has
/// not begun: only one that is over ends it.
int print_all(TopSource& source, const TopOptions& o) {
  constexpr milliseconds kLookAgain{10};
  TopPicture picture;
  while (!stop_now) {
    auto fresh = source.refresh(picture);
    if (!fresh) return fail(fresh.error().what);
    if (!*fresh && source.over()) return 0;
    if (!*fresh) {
      std::this_thread::sleep_for(kLookAgain);
      continue;
    }
    if (o.once) {
      std::this_thread::sleep_for(source.settles());
      if (fresh = source.refresh(picture); !fresh) return fail(fresh.error().what);
    }
    o.json ? static_cast<void>(std::printf("%s\n", source.json().c_str())) : print(picture);
    std::fflush(stdout);
    if (o.once) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(o.every));
  }
  return 0;
}

class Screen {
 public:
  Screen(TopSource& source, const TopOptions& options) : source_(source), options_(options) {}

  int run() {
    auto next = std::chrono::steady_clock::now();
    while (!stop_now) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next) {
        if (!look_.frozen) {
          if (auto fresh = source_.refresh(picture_); !fresh) {
            problem_ = fresh.error().what;
            return 1;
          }
        }
        next = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(options_.every));
      }
      look_.columns = terminal_.columns();
      look_.rows = terminal_.rows();
      terminal_.show(draw(picture_, look_));
      const auto wait = std::chrono::duration_cast<milliseconds>(next - std::chrono::steady_clock::now());
      const int news = look_.frozen ? -1 : source_.news();
      const int key = terminal_.wait_key(std::max(wait, milliseconds(0)), news);
      if (key == static_cast<int>(Key::news)) next = std::min(next, now + kLeastBetween), settle(now);
      if (!obey(key)) return 0;
    }
    return 0;
  }
  const std::string& problem() const { return problem_; }

 private:
  /// Events come in crowds: what follows the first one is in the same picture.
  static void settle(std::chrono::steady_clock::time_point since) {
    std::this_thread::sleep_until(since + kLeastBetween);
  }
  bool obey(int key) {
    if (look_.typing) return type(key), true;
    TopOrder& order = look_.order;
    switch (key) {
      case 'q': return false;
      case 'f':
      case ' ': look_.frozen = !look_.frozen; break;
      case 's': order.by = static_cast<TopOrder::By>((static_cast<int>(order.by) + 1) % 6); break;
      case 'r': order.reverse = !order.reverse; break;
      case '/': look_.typing = true, order.filter.clear(); break;
      case static_cast<int>(Key::escape): order.filter.clear(); break;
      case static_cast<int>(Key::up): look_.chosen -= look_.chosen > 0; break;
      case static_cast<int>(Key::down):
        look_.chosen += look_.chosen + 1 < ordered(picture_, order).size();
        break;
      default: break;
    }
    return true;
  }
  void type(int key) {
    std::string& filter = look_.order.filter;
    if (key == static_cast<int>(Key::enter)) look_.typing = false;
    if (key == static_cast<int>(Key::escape)) look_.typing = false, filter.clear();
    if (key == static_cast<int>(Key::backspace) && !filter.empty()) filter.pop_back();
    if (key >= 32 && key < 127) filter += static_cast<char>(key);
    look_.chosen = 0;
  }

  TopSource& source_;
  const TopOptions& options_;
  Terminal terminal_;
  TopPicture picture_;
  TopLook look_;
  std::string problem_;
};

int top_run(const TopOptions& o) {
  auto source = open_source(o);
  if (!source) return fail(source.error().what);
  const auto stop = [](int) { stop_now = true; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  if (o.once || o.json || !Terminal::is_there()) return print_all(**source, o);
  int status = 0;
  std::string problem;
  {
    Screen screen(**source, o);
    status = screen.run();
    problem = screen.problem();
  }
  return problem.empty() ? status : fail(problem);
}

}  // namespace

Run top(CLI::App& app) {
  auto o = std::make_shared<TopOptions>();
  app.add_option("scenario", o->scenario, "simulate this scenario and show it; or show this recording");
  app.add_option("--trace", o->recording, "show a recording, a frame per interval")->excludes("scenario");
  app.add_option("--socket", o->socket, "of this node's mrcd; none: the usual one")->excludes("scenario");
  app.add_option("--lab", o->lab, "show a running lab, as `mrc lab up` names it")
      ->excludes("scenario", "--trace", "--socket");
  app.add_option("--every", o->every, "seconds between two pictures")
      ->check(real_range(0.1, 3600.0))
      ->capture_default_str();
  app.add_flag("--once", o->once, "one picture, as text");
  app.add_flag("--json", o->json, "each picture as one line of JSON");
  app.footer(
      "Example: mrc top share/scenarios/watch.toml\n"
      "Without arguments it shows this node, as its mrcd tells. Keys: q quit, f freeze, s sort, r reverse, / "
      "filter, arrows choose a queue pair.");
  return [o] { return top_run(*o); };
}

}  // namespace mrc::tools
