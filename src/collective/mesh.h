// The processes of one collective: each knows every other, and writes into its memory.
//
// Thin over the public interfaces (mrc.h, openmrc/connect.h), as a program of somebody else's would be.
#pragma once

#include <mrc.h>
#include <openmrc/connect.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collective/plane_looks.h"

namespace mrc::collective {

struct MeshOptions {
  std::uint32_t rank = 0;
  std::vector<std::string> addresses;  // of all ranks
  std::uint16_t tcp_port = 18600;      // rank r listens at tcp_port + r
  std::string device;                  // as in MRC_DEVICES; empty: the environment's
  std::size_t bytes = 0;               // of memory that peers write to
  std::uint64_t plan = 0;              // the same on all ranks: what will be run
  int timeout_ms = 30'000;             // for everything that waits
};

class Mesh {
 public:
  static constexpr std::uint32_t kTags = 8192;  // an immediate that says which transfer has come

  static Result<std::unique_ptr<Mesh>> join(const MeshOptions& options);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t rank() const { return options_.rank; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(options_.addresses.size()); }
  std::byte* memory() { return memory_; }

  /// Our bytes at `from` to the peer's memory at `to`, where `tag` tells of them. Waits while the send queue
  /// is full.
  Status write(std::uint32_t peer, std::size_t from, std::size_t to, std::size_t bytes, std::uint32_t tag);
  /// Until the transfer of this tag has come from that peer; each wait takes one.
  Status wait(std::uint32_t peer, std::uint32_t tag);
  /// Until everybody is here.
  Status barrier();
  /// Until all our writes have arrived.
  Status settle();
  /// Looks at the planes to all peers, and counts the peers that some plane has carried nothing to at any
  /// look.
  std::uint32_t look_at_planes();
  /// Those peers, and how all of their planes stood at the last look.
  struct LamePeer {
    std::uint32_t rank;
    std::string name, planes;
  };
  std::vector<LamePeer> lame() const;

 private:
  struct Peer {
    mrc_qp* qp = nullptr;
    openmrc_connection* connection = nullptr;
    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
    std::uint32_t in_flight = 0;
    std::vector<std::uint8_t> arrived = {};  // by tag
    PlaneLooks looks = {};
    std::string planes = {};  // as they stood at the last look
  };
  static constexpr std::uint32_t kSends = 256;       // in flight to each peer
  static constexpr std::uint32_t kReceives = kTags;  // no peer can have more outstanding than there are tags
  static constexpr std::uint64_t kReceiveId = std::uint64_t{1}
                                              << 32;  // and the peer; below: the peer of a write
  explicit Mesh(const MeshOptions& options)
      : options_(options), peers_(options.addresses.size()), rank_at_(peers_.size()) {}
  Status open();
  Status make_qp(mrc_qp*& qp, std::uint32_t place);
  Status meet_all();
  Status call(std::uint32_t peer);
  Status await(openmrc_listener* listener, std::uint32_t place);
  template <class Connect>
  Status meet(std::uint32_t place, Connect&& connect);
  std::string who_is_missing() const;
  std::string name_of(std::uint32_t rank) const;
  bool has_gone(std::uint32_t rank) const;
  std::string planes_to(std::uint32_t rank) const;
  Result<int> poll();
  Status ask(std::uint32_t rank);
  template <class Ready>
  Status poll_until(Ready&& ready, const char* what, std::uint32_t peer);

  MeshOptions options_;
  std::vector<Peer> peers_;             // by rank
  std::vector<std::uint32_t> rank_at_;  // who came at which place in the order of meeting
  std::byte* memory_ = nullptr;
  ibv_context* verbs_ = nullptr;
  mrc_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  mrc_cq* cq_ = nullptr;
};

}  // namespace mrc::collective
