#include "sim/cm_workload.h"

#include <algorithm>

namespace mrc::sim {

CmWorkload::CmWorkload(CmFile file)
    : file_(std::move(file)), by_source_(file_.nodes), done_(file_.connections.size()) {
  for (std::uint32_t i = 0; i < file_.connections.size(); ++i)
    by_source_[file_.connections[i].source].push_back(i);
  count_peers();
  bind_triggers();
}

void CmWorkload::count_peers() {
  std::vector<std::pair<Host, Host>> pairs;
  for (const CmConnection& c : file_.connections) {
    pairs.emplace_back(c.source, c.destination);
    pairs.emplace_back(c.destination, c.source);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  peers_.resize(file_.nodes);
  for (const auto& [host, peer] : pairs) ++peers_[host];
}

void CmWorkload::bind_triggers() {
  for (std::uint32_t i = 0; i < file_.triggers.size(); ++i) {
    triggers_.push_back({.kind = file_.triggers[i].kind, .count = file_.triggers[i].count});
    trigger_index_.emplace_back(file_.triggers[i].id, i);
  }
  std::sort(trigger_index_.begin(), trigger_index_.end());
  for (std::uint32_t i = 0; i < file_.connections.size(); ++i) {
    if (file_.connections[i].trigger == 0) continue;
    Trigger& t = triggers_[index_of(file_.connections[i].trigger)];
    if (t.connections.empty()) t.home = file_.connections[i].source;
    t.connections.push_back(i);
  }
}

std::uint32_t CmWorkload::index_of(std::uint32_t trigger_id) const {
  return std::lower_bound(trigger_index_.begin(), trigger_index_.end(), std::pair(trigger_id, 0u))->second;
}

void CmWorkload::start(Host host, Actions& actions) {
  for (const std::uint32_t i : by_source_[host]) {
    const CmConnection& c = file_.connections[i];
    if (c.trigger != 0) continue;
    if (c.start == 0) {
      begin(i, actions);
    } else {
      actions.wait(c.start, i);
    }
  }
}

void CmWorkload::begin(std::uint32_t connection, Actions& actions) {
  const CmConnection& c = file_.connections[connection];
  actions.send({c.destination, c.bytes, connection, connection});
}

void CmWorkload::on_timer(Host, std::uint64_t token, Actions& actions) {
  begin(static_cast<std::uint32_t>(token), actions);
}

void CmWorkload::on_received(Host, Host, std::uint32_t tag, Actions& actions) {
  activate(file_.connections[tag].recv_done_trigger, actions);
}

void CmWorkload::on_sent(Host, const Message& message, Actions& actions) {
  done_[message.tag] = 1;
  activate(file_.connections[message.tag].send_done_trigger, actions);
}

void CmWorkload::activate(std::uint32_t trigger_id, Actions& actions) {
  if (trigger_id == 0) return;
  const std::uint32_t i = index_of(trigger_id);
  actions.signal(triggers_[i].home, kActivate | i);
}

void CmWorkload::on_signal(Host host, std::uint64_t word, Actions& actions) {
  if ((word & kActivate) == 0) return begin(static_cast<std::uint32_t>(word), actions);
  Trigger& t = triggers_[static_cast<std::uint32_t>(word)];
  const std::uint32_t n = ++t.activations;
  if (t.kind == TriggerKind::multishot) {
    if (n <= t.connections.size()) fire(t.connections[n - 1], host, actions);
  } else if (n == (t.kind == TriggerKind::barrier ? t.count : 1)) {
    for (const std::uint32_t c : t.connections) fire(c, host, actions);
  }
}

void CmWorkload::fire(std::uint32_t connection, Host host, Actions& actions) {
  const Host source = file_.connections[connection].source;
  if (source == host) {
    begin(connection, actions);
  } else {
    actions.signal(source, connection);
  }
}

std::string CmWorkload::unfinished() const {
  const auto left = static_cast<std::size_t>(std::count(done_.begin(), done_.end(), 0));
  if (left == 0) return "";
  const auto first = static_cast<std::size_t>(std::find(done_.begin(), done_.end(), 0) - done_.begin());
  return std::to_string(left) + " of " + std::to_string(done_.size()) +
         " connections did not finish, the first at line " + std::to_string(file_.connections[first].line);
}

std::vector<std::uint64_t> CmWorkload::standing(Host host) const {
  std::vector<std::uint64_t> out;
  for (const std::uint32_t i : by_source_[host]) out.push_back(done_[i]);
  return out;
}

void CmWorkload::adopt(Host host, std::span<const std::uint64_t> standing) {
  for (std::size_t i = 0; i < standing.size(); ++i) done_[by_source_[host][i]] = standing[i] != 0;
}

}  // namespace mrc::sim
