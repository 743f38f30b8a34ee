#include "nic/peer.h"

namespace mrc::nic {

Peer& PeerTable::make() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(peers_.size()));
    peers_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  peers_[index] = std::make_unique<Peer>();
  peers_[index]->index = index;
  return *peers_[index];
}

void PeerTable::forget(const Gid& address, const Peer& peer) {
  const auto found = by_address_.find(address);
  if (found != by_address_.end() && found->second == &peer) by_address_.erase(found);
}

Peer& PeerTable::acquire(const Gid& gid, std::span<const Gid> addresses) {
  if (const auto known = by_address_.find(gid); known != by_address_.end()) {
    ++known->second->users;
    return *known->second;
  }
  Peer& peer = make();
  peer.gid = gid;
  peer.addresses.assign(addresses.begin(), addresses.end());
  if (addresses.empty()) peer.addresses.push_back(gid);
  peer.users = 1;
  by_address_.emplace(gid, &peer);
  for (const Gid& a : peer.addresses) by_address_.emplace(a, &peer);
  return peer;
}

bool PeerTable::release(Peer& peer) {
  if (--peer.users > 0) return false;
  forget(peer.gid, peer);
  for (const Gid& a : peer.addresses) forget(a, peer);
  free_.push_back(peer.index);
  peers_[peer.index].reset();
  return true;
}

Peer* PeerTable::find(const Gid& source) {
  const auto found = by_address_.find(source);
  return found == by_address_.end() ? nullptr : found->second;
}

}  // namespace mrc::nic
