// The story of a queue pair, told from a capture: what was sent on which EV, what arrived, was trimmed,
// repaired, when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tools/conversation.h"
#include "tools/sent_packets.h"

namespace mrc::tools {

struct StoryField {
  std::string_view name;
  std::variant<std::uint64_t, bool, std::string> value;
};

/// One event of the story: a sentence for a person, the same as fields for a program.
struct StoryEvent {
  std::uint64_t frame = 0;
  Time time;
  Conversation::Way way = Conversation::Way::none;
  std::string_view kind;  // sent, repaired, seen_again, trimmed, sack, nack, ack, probe, probe_reply
  std::string sentence;
  std::vector<StoryField> fields;
};

class Story {
 public:
  using Tell = std::function<void(const StoryEvent&)>;
  Story(const Conversation& conversation, Tell tell) : conversation_(conversation), tell_(std::move(tell)) {}

  /// Packets of other conversations, and packets whose bytes cannot be trusted, are passed over.
  void note(const SeenPacket& seen);

  /// Writes toward the queue pair, and toward its peer.
  const SentPackets& to_qp() const { return to_qp_; }
  const SentPackets& to_peer() const { return to_peer_; }

 private:
  struct Scene;  // one packet, and which direction's writes it is about

  void on(const wire::Write& w, const Scene& scene, StoryEvent& event);
  void on(const wire::Sack& s, const Scene& scene, StoryEvent& event);
  void on(const wire::Nack& n, const Scene& scene, StoryEvent& event);
  void on(const wire::TransportAck& a, const Scene& scene, StoryEvent& event);
  void on(const wire::Probe& p, const Scene& scene, StoryEvent& event);
  void on(const wire::EndpointRequest&, const Scene&, StoryEvent&) {}
  void on(const wire::EndpointResponse&, const Scene&, StoryEvent&) {}

  Conversation conversation_;
  Tell tell_;
  SentPackets to_qp_, to_peer_;
  std::map<std::pair<Conversation::Way, std::uint16_t>, Time> probes_;  // by the way of the probe, and its id
};

}  // namespace mrc::tools
