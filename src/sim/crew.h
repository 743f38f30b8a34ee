// The event loop: time in windows as long as the shortest link, nodes in shards, one thread per shard.
//
// Whatever a node does within a window reaches another node in a later one, because a link takes at least a
// window. So nodes run their window in any order, each through all its arrivals at once while its state is in
// cache, and threads need to meet only between windows. Results do not depend on the number of threads: a
// node sees its own arrivals, in an order of their own (arrives_before), and nothing else.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/check.h"
#include "sim/agenda.h"
#include "sim/barrier.h"
#include "sim/inbox.h"
#include "sim/slot_store.h"
#include "sim/transit.h"

namespace mrc::sim {

/// Where each node runs, and how long a window is.
struct Layout {
  std::vector<std::uint8_t> shard_of;  // by node
  unsigned shards = 1;
  Ps window = 0;  // at most the shortest time between two nodes
};

/// A Model names what a slot holds (Model::Slot) and runs one node through one window:
///   Ps run(Shard<Model>& shard, std::uint32_t node, Ps begin, Ps end, std::span<const Transit> arrivals)
/// and returns when the node wants to run again although nothing arrives (kNeverPs: never). All that it
/// touches belongs to the node or to the shard. Between windows, with all threads at rest,
///   bool proceed(Ps begin)
/// says whether to go on.
template <class Model>
class Crew;

/// One thread's nodes.
template <class Model>
class Shard {
 public:
  Shard(Crew<Model>& crew, unsigned index, std::size_t nodes)
      : crew_(crew), index_(index), agenda_(nodes), outboxes_(crew.layout().shards), slots_(crew.slots()) {}

  unsigned index() const { return index_; }
  Model& model() { return crew_.model_; }
  SlotCache<typename Model::Slot>& slots() { return slots_; }

  /// Hands a frame or a signal to a node. REQUIRES: it arrives after the present window.
  void deliver(std::uint32_t node, const Transit& t) {
    const unsigned owner = crew_.layout().shard_of[node];
    if (owner == index_) {
      accept(node, t);
    } else {
      outboxes_[owner].push_back({t, node});
    }
  }
  /// `node` runs at `when` whether anything arrives or not.
  void wake(std::uint32_t node, Ps when) { agenda_.note(node, when / crew_.layout().window); }

 private:
  friend class Crew<Model>;
  struct Parcel {
    Transit transit;
    std::uint32_t node;
  };

  void accept(std::uint32_t node, const Transit& t) {
    crew_.inboxes_[node].push(t);
    wake(node, t.when);
  }
  void run(Model& model, Window w) {
    const Ps begin = w * crew_.layout().window;
    const Ps end = begin + crew_.layout().window;
    agenda_.take(w, nodes_);
    for (const std::uint32_t node : nodes_) {
      const Ps rest = crew_.inboxes_[node].take(begin, end, sorter_, due_);
      const Ps again = std::min(rest, model.run(*this, node, begin, end, std::span<const Transit>(due_)));
      if (again != kNeverPs) wake(node, std::max(again, end));
    }
  }
  void collect() {
    for (auto& other : crew_.shards_) {
      for (const Parcel& p : other->outboxes_[index_]) accept(p.node, p.transit);
      other->outboxes_[index_].clear();
    }
  }

  Crew<Model>& crew_;
  const unsigned index_;
  Agenda agenda_;
  ArrivalSorter sorter_;
  std::vector<std::vector<Parcel>> outboxes_;  // by shard
  SlotCache<typename Model::Slot> slots_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Transit> due_;
};

template <class Model>
class Crew {
 public:
  Crew(Model& model, Layout layout)
      : model_(model),
        layout_(std::move(layout)),
        inboxes_(layout_.shard_of.size()),
        barrier_(layout_.shards) {
    MRC_CHECK(layout_.window > 0);
    for (unsigned s = 0; s < layout_.shards; ++s) {
      shards_.push_back(std::make_unique<Shard<Model>>(*this, s, layout_.shard_of.size()));
    }
  }

  const Layout& layout() const { return layout_; }
  SlotStore<typename Model::Slot>& slots() { return slots_; }
  Shard<Model>& shard_of(std::uint32_t node) { return *shards_[layout_.shard_of[node]]; }

  /// Until nothing is left to do, or the model has had enough.
  void run() {
    agree();
    std::vector<std::thread> others;
    for (unsigned s = 1; s < layout_.shards; ++s) others.emplace_back([this, s] { work(*shards_[s]); });
    work(*shards_[0]);
    for (std::thread& t : others) t.join();
  }

 private:
  friend class Shard<Model>;

  void work(Shard<Model>& shard) {
    while (next_ != kNoWindow) {
      shard.run(model_, next_);
      barrier_.arrive();
      shard.collect();
      barrier_.arrive([this] { agree(); });
    }
  }
  void agree() {
    next_ = kNoWindow;
    for (auto& shard : shards_) next_ = std::min(next_, shard->agenda_.next());
    if (next_ != kNoWindow && !model_.proceed(next_ * layout_.window)) next_ = kNoWindow;
  }

  Model& model_;
  Layout layout_;
  SlotStore<typename Model::Slot> slots_;
  std::vector<Inbox> inboxes_;  // by node
  std::vector<std::unique_ptr<Shard<Model>>> shards_;
  Barrier barrier_;
  Window next_ = kNoWindow;
};

}  // namespace mrc::sim
