// A traffic matrix at work: connections that start at a time or when a trigger fires.
#pragma once

#include <vector>

#include "sim/cm_file.h"
#include "sim/workload.h"

namespace mrc::sim {

/// A trigger lives at one host, the source of the first connection that it starts, and is told of by signals:
/// on the same host it fires at once, between hosts it takes a link's delay.
class CmWorkload final : public Workload {
 public:
  explicit CmWorkload(CmFile file);

  const std::vector<CmConnection>& connections() const { return file_.connections; }

  bool takes_part(Host host) const override { return host < by_source_.size() && !by_source_[host].empty(); }
  std::uint32_t peers(Host host) const override { return host < peers_.size() ? peers_[host] : 0; }
  void start(Host host, Actions& actions) override;
  void on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) override;
  void on_sent(Host host, const Message& message, Actions& actions) override;
  void on_timer(Host host, std::uint64_t token, Actions& actions) override;
  void on_signal(Host host, std::uint64_t word, Actions& actions) override;
  std::string unfinished() const override;
  std::vector<std::uint64_t> standing(Host host) const override;
  void adopt(Host host, std::span<const std::uint64_t> standing) override;

 private:
  struct Trigger {
    TriggerKind kind = TriggerKind::oneshot;
    std::uint32_t count = 1;
    std::uint32_t activations = 0;
    Host home = 0;
    std::vector<std::uint32_t> connections;
  };
  static constexpr std::uint64_t kActivate = std::uint64_t{1}
                                             << 32;  // else: start the connection of that index

  void count_peers();
  void bind_triggers();
  void begin(std::uint32_t connection, Actions& actions);
  void activate(std::uint32_t trigger_id, Actions& actions);
  void fire(std::uint32_t connection, Host host, Actions& actions);
  std::uint32_t index_of(std::uint32_t trigger_id) const;

  CmFile file_;
  std::vector<Trigger> triggers_;                                       // as file_.triggers
  std::vector<std::pair<std::uint32_t, std::uint32_t>> trigger_index_;  // id -> index, sorted
  std::vector<std::vector<std::uint32_t>> by_source_;                   // connections of a host
  std::vector<std::uint32_t> peers_;                                    // how many, by host
  std::vector<std::uint8_t> done_;                                      // per connection: acknowledged
};

}  // namespace mrc::sim
