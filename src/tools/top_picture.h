// What `mrc top` shows, whatever it comes from: ports or planes, queue pairs, events.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/messages.h"

namespace mrc::tools {

/// A port of a device, or a plane of a fabric.
struct TopLane {
  std::string name, note;
  double rate = 0, most = 0;  // bits per second
  bool up = true;
};

struct TopQp {
  std::string name;  // who speaks to whom
  double rate = 0, rtt_us = 0, window_kb = 0;
  std::uint64_t repairs = 0, lost = 0;
  std::array<std::uint32_t, 4> counts{};            // GOOD, SKIP, ASSUMED_BAD, DENIED
  std::vector<std::pair<std::uint32_t, char>> evs;  // port or plane, and g, s, b or d
};

struct TopPicture {
  std::string title;
  std::vector<std::string> summary;
  std::vector<TopLane> lanes;
  std::vector<TopQp> qps;
  std::uint64_t more_qps = 0;
  std::deque<std::string> events;  // newest last
};

inline constexpr std::size_t kTopEvents = 200;
void add_event(TopPicture& picture, std::string event);

/// Frames of a fabric, as JSON. Says what is wrong with others.
class TopFrames {
 public:
  Status take(const std::string& frame, TopPicture& picture);
  /// The last one said that no other follows.
  bool over() const { return over_; }

 private:
  bool over_ = false;
  std::map<std::uint32_t, double> most_;  // of each plane so far: the scale of its bar
};

/// Snapshots of a node: two of them make a rate.
class TopNode {
 public:
  void take(const node::Snapshot& now, TopPicture& picture);
  static std::string text(const node::NodeEvent& event);

 private:
  struct Before {
    std::uint64_t bytes = 0, taken_ns = 0;
  };
  double rate(const std::string& name, std::uint64_t bytes, std::uint64_t taken_ns);
  void tell_paths(const TopQp& qp, std::uint64_t now_ns, TopPicture& picture);

  std::map<std::string, Before> before_;
  std::map<std::string, std::uint32_t> bad_;  // EVs of each QP
};

struct TopOrder {
  enum class By : std::uint8_t { name, rate, rtt, window, repairs, bad } by = By::rate;
  bool reverse = false;
  std::string filter;
};
const char* name_of(TopOrder::By by);
/// Sorted and filtered.
std::vector<const TopQp*> ordered(const TopPicture& picture, const TopOrder& order);

struct TopLook {
  int columns = 80, rows = 24;
  TopOrder order;
  std::size_t chosen = 0;  // of the ordered QPs
  bool frozen = false, typing = false, colour = true;
};
std::vector<std::string> draw(const TopPicture& picture, const TopLook& look);

}  // namespace mrc::tools
