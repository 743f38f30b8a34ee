// The event loop: time in windows as long as the shortest link, nodes in shards, one thread per shard.
//
// Whatever a node does within a window reaches another node in a later one, because a link takes at least a
// window. So nodes run their window in any order, each through all its arrivals at once while its state is in
// cache, and threads need to meet only between windows. Results do not depend on the number of threads: a
// node sees its own arrivals, in an order of their own (arrives_before), and nothing else.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/check.h"
#include "sim/agenda.h"
#include "sim/barrier.h"
#include "sim/inbox.h"
#include "sim/ranks.h"
#include "sim/slot_store.h"
#include "sim/transit.h"

namespace mrc::sim {

/// Where each node runs, and how long a window is.
struct Layout {
  std::vector<std::uint8_t> shard_of;  // by node
  unsigned shards = 1;                 // of all processes
  Ps window = 0;                       // at most the shortest time between two nodes
  Ranks* ranks = nullptr;              // several processes: each has the same number of shards, in order

  unsigned own_shards() const { return ranks == nullptr ? shards : shards / ranks->size(); }
  unsigned first_shard() const { return ranks == nullptr ? 0 : ranks->rank() * own_shards(); }
  bool owns(std::uint32_t node) const {
    return shard_of[node] >= first_shard() && shard_of[node] < first_shard() + own_shards();
  }
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
      : crew_(crew),
        index_(index),
        agenda_(nodes),
        outboxes_(crew.layout().shards),
        mail_(crew.layout().ranks == nullptr ? 0 : crew.layout().ranks->size()),
        slots_(crew.slots()) {}

  unsigned index() const { return index_; }
  Model& model() { return crew_.model_; }
  SlotCache<typename Model::Slot>& slots() { return slots_; }

  /// Hands a frame or a signal to a node. REQUIRES: it arrives after the present window.
  void deliver(std::uint32_t node, const Transit& t) {
    const unsigned owner = crew_.layout().shard_of[node];
    if (owner == index_) {
      accept(node, t);
    } else if (crew_.shards_[owner] != nullptr) {
      outboxes_[owner].push_back({t, node});
    } else {
      post(mail_[owner / crew_.layout().own_shards()], node, t);
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

  using Slot = typename Model::Slot;
  static_assert(std::is_trivially_copyable_v<Slot>);
  /// A frame on its way to another process: arrival, node, and what the slot holds.
  static constexpr std::size_t kLetter = sizeof(Transit) + sizeof(std::uint32_t) + sizeof(Slot);

  /// At once, while the frame is in cache, and its slot is free for the next.
  void post(Ranks::Bytes& mail, std::uint32_t node, const Transit& t) {
    mail.resize(mail.size() + kLetter);
    std::byte* p = mail.data() + mail.size() - kLetter;
    std::memcpy(p, &t, sizeof t);
    std::memcpy(p + sizeof t, &node, sizeof node);
    std::memcpy(p + sizeof t + sizeof node, static_cast<const void*>(&slots_[t.slot]), sizeof(Slot));
    slots_.give(t.slot);
  }
  void open(const std::byte* letter) {
    Transit t;
    std::uint32_t node = 0;
    std::memcpy(static_cast<void*>(&t), letter, sizeof t);
    std::memcpy(&node, letter + sizeof t, sizeof node);
    t.slot = slots_.take();
    Slot& slot = slots_[t.slot];
    std::memcpy(static_cast<void*>(&slot), letter + sizeof t + sizeof node, sizeof(Slot));
    if constexpr (requires { slot.slot; }) slot.slot = t.slot;
    crew_.shard_of(node).accept(node, t);
  }

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
      if (other == nullptr) continue;  // another process's
      for (const Parcel& p : other->outboxes_[index_]) accept(p.node, p.transit);
      other->outboxes_[index_].clear();
    }
  }

  Crew<Model>& crew_;
  const unsigned index_;
  Agenda agenda_;
  ArrivalSorter sorter_;
  std::vector<std::vector<Parcel>> outboxes_;  // by shard of this process
  std::vector<Ranks::Bytes> mail_;             // by rank
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
        barrier_(layout_.own_shards()) {
    MRC_CHECK(layout_.window > 0);
    shards_.resize(layout_.shards);
    for (unsigned s = first(); s < first() + layout_.own_shards(); ++s) {
      shards_[s] = std::make_unique<Shard<Model>>(*this, s, layout_.shard_of.size());
    }
  }

  const Layout& layout() const { return layout_; }
  SlotStore<typename Model::Slot>& slots() { return slots_; }
  Shard<Model>& shard_of(std::uint32_t node) { return *shards_[layout_.shard_of[node]]; }

  /// Until nothing is left to do, or the model has had enough.
  void run() {
    agree();
    std::vector<std::thread> others;
    for (unsigned s = 1; s < layout_.own_shards(); ++s)
      others.emplace_back([this, s] { work(*shards_[first() + s]); });
    work(*shards_[first()]);
    for (std::thread& t : others) t.join();
  }

 private:
  friend class Shard<Model>;

  void work(Shard<Model>& shard) {
    while (next_ != kNoWindow) {
      shard.run(model_, next_);
      barrier_.arrive([this] { trade(); });
      shard.collect();
      barrier_.arrive([this] { agree(); });
    }
  }
  unsigned first() const { return layout_.first_shard(); }
  void agree() {
    next_ = kNoWindow;
    for (auto& shard : shards_) {
      if (shard != nullptr) next_ = std::min(next_, shard->agenda_.next());
    }
    if (layout_.ranks != nullptr) next_ = layout_.ranks->least(next_);
    if (next_ != kNoWindow && !model_.proceed(next_ * layout_.window)) next_ = kNoWindow;
  }

  /// With all threads at rest: what is for other processes' nodes goes there, and theirs comes here.
  void trade() {
    if (layout_.ranks == nullptr) return;
    Shard<Model>& own = *shards_[first()];
    for (unsigned s = 1; s < layout_.own_shards(); ++s) gather_mail(*shards_[first() + s], own);
    layout_.ranks->exchange(own.mail_, arrived_);
    for (Ranks::Bytes& m : own.mail_) m.clear();
    for (std::size_t at = 0; at < arrived_.size(); at += Shard<Model>::kLetter)
      own.open(arrived_.data() + at);
  }
  static void gather_mail(Shard<Model>& from, Shard<Model>& to) {
    for (std::size_t r = 0; r < to.mail_.size(); ++r) {
      to.mail_[r].insert(to.mail_[r].end(), from.mail_[r].begin(), from.mail_[r].end());
      from.mail_[r].clear();
    }
  }

  Model& model_;
  Layout layout_;
  Ranks::Bytes arrived_;
  SlotStore<typename Model::Slot> slots_;
  std::vector<Inbox> inboxes_;  // by node
  std::vector<std::unique_ptr<Shard<Model>>> shards_;
  Barrier barrier_;
  Window next_ = kNoWindow;
};

}  // namespace mrc::sim
