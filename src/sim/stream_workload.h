// Streams: one host writes messages of one size to another, several under way at a time, for a number of
// messages or until the run ends.
#pragma once

#include <string>
#include <vector>

#include "sim/workload.h"

namespace mrc::sim {

struct Stream {
  Host from = 0;
  Host to = 0;
  std::uint64_t bytes = 32768;  // of one message
  std::uint64_t messages = 0;   // 0: until the run ends
  std::uint32_t depth = 8;      // messages under way
};

/// Streams are numbered; the number is the tag of their messages.
class StreamWorkload final : public Workload {
 public:
  /// REQUIRES: hosts exist, from != to, depth > 0.
  StreamWorkload(std::vector<Stream> streams, std::uint32_t hosts);

  bool takes_part(Host host) const override { return host < by_source_.size() && !by_source_[host].empty(); }
  std::uint32_t peers(Host host) const override { return host < peers_.size() ? peers_[host] : 0; }
  void start(Host host, Actions& actions) override;
  void on_received(Host, Host, std::uint32_t, Actions&) override {}
  void on_sent(Host host, const Message& message, Actions& actions) override;
  void on_timer(Host, std::uint64_t, Actions&) override {}
  void on_signal(Host, std::uint64_t, Actions&) override {}
  std::string unfinished() const override;
  std::vector<std::uint64_t> standing(Host host) const override;
  void adopt(Host host, std::span<const std::uint64_t> standing) override;

 private:
  void send(std::uint32_t stream, Actions& actions);

  struct Progress {
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
  };
  std::vector<Stream> streams_;
  std::vector<Progress> progress_;                     // as streams_; touched by the source only
  std::vector<std::vector<std::uint32_t>> by_source_;  // streams of a host
  std::vector<std::uint32_t> flows_;                   // messages of a host so far: their names
  std::vector<std::uint32_t> peers_;
};

}  // namespace mrc::sim
