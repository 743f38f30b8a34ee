#include "sim/stream_workload.h"

#include <algorithm>

namespace mrc::sim {

StreamWorkload::StreamWorkload(std::vector<Stream> streams, std::uint32_t hosts)
    : streams_(std::move(streams)),
      progress_(streams_.size()),
      by_source_(hosts),
      flows_(hosts),
      peers_(hosts) {
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    by_source_[streams_[i].from].push_back(i);
    ++peers_[streams_[i].from];  // the same peer twice is counted twice: an upper bound is enough
    ++peers_[streams_[i].to];
  }
}

void StreamWorkload::start(Host host, Actions& actions) {
  for (const std::uint32_t i : by_source_[host]) {
    for (std::uint32_t n = 0; n < streams_[i].depth; ++n) send(i, actions);
  }
}

void StreamWorkload::send(std::uint32_t stream, Actions& actions) {
  const Stream& s = streams_[stream];
  Progress& p = progress_[stream];
  if (s.messages != 0 && p.sent >= s.messages) return;
  ++p.sent;
  actions.send({s.to, s.bytes, stream, flows_[s.from]++});
}

void StreamWorkload::on_sent(Host, const Message& message, Actions& actions) {
  ++progress_[message.tag].acknowledged;
  send(message.tag, actions);
}

std::string StreamWorkload::unfinished() const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    // One without end has done its work when anything came through.
    const std::uint64_t least = streams_[i].messages == 0 ? 1 : streams_[i].messages;
    if (progress_[i].acknowledged >= least) continue;
    if (streams_[i].messages == 0) return "stream " + std::to_string(i) + " delivered nothing";
    return "stream " + std::to_string(i) + " delivered " + std::to_string(progress_[i].acknowledged) +
           " of its " + std::to_string(streams_[i].messages) + " messages";
  }
  return "";
}

std::vector<std::uint64_t> StreamWorkload::standing(Host host) const {
  std::vector<std::uint64_t> out;
  for (const std::uint32_t i : by_source_[host]) out.push_back(progress_[i].acknowledged);
  return out;
}

void StreamWorkload::adopt(Host host, std::span<const std::uint64_t> standing) {
  for (std::size_t i = 0; i < standing.size(); ++i) progress_[by_source_[host][i]].acknowledged = standing[i];
}

}  // namespace mrc::sim
