#include "tools/top_source.h"

#include <cerrno>
#include <mutex>
#include <optional>
#include <vector>

#include "node/daemon_client.h"
#include "scenario/document.h"
#include "view/lab_source.h"
#include "view/recording.h"
#include "view/sim_source.h"

namespace mrc::tools {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTwo{500};   // pictures, where only one is wanted
constexpr milliseconds kLabSettles{1500};  // until its hosts were asked twice

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

}  // namespace

Result<std::unique_ptr<TopSource>> open_top_source(const TopOptions& o) {
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

}  // namespace mrc::tools
