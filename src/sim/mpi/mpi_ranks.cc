// The ranks of one simulation under MPI: a library of its own, so that only runs under mpirun load MPI.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "sim/ranks.h"

namespace mrc::sim {
namespace {

/// Where all ranks are on one machine, shared memory is all that they need, and looking for network adapters
/// is most of the time that MPI takes to start. Who asked mpirun for another layer gets that.
void skip_adapters_on_one_machine() {
  const char* all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all != nullptr && here != nullptr && std::strcmp(all, here) == 0) ::setenv("OMPI_MCA_pml", "ob1", 0);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    skip_adapters_on_one_machine();
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned size() const override { return static_cast<unsigned>(size_); }

  // Sizes first, then pieces: a window of a large fabric may be more than one message can hold.
  void exchange(const std::vector<Bytes>& out, Bytes& in) override {
    std::vector<std::uint64_t> give(static_cast<std::size_t>(size_)), take(give.size());
    for (std::size_t r = 0; r < give.size(); ++r) give[r] = static_cast<int>(r) == rank_ ? 0 : out[r].size();
    MPI_Alltoall(give.data(), 1, MPI_UINT64_T, take.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    in.resize(std::accumulate(take.begin(), take.end(), std::uint64_t{0}));
    std::vector<MPI_Request> requests;
    std::size_t at = 0;
    for (int r = 0; r < size_; ++r) {
      const auto index = static_cast<std::size_t>(r);
      each_piece(take[index], [&](std::size_t from, int count) {
        MPI_Irecv(in.data() + at + from, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back());
      });
      at += take[index];
    }
    for (int r = 0; r < size_; ++r) {
      const auto index = static_cast<std::size_t>(r);
      each_piece(give[index], [&](std::size_t from, int count) {
        MPI_Isend(out[index].data() + from, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  std::int64_t least(std::int64_t value) override {
    std::int64_t out = 0;
    MPI_Allreduce(&value, &out, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return out;
  }
  void add(std::span<std::int64_t> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  std::vector<Bytes> gather(const Bytes& mine) override {
    std::vector<Bytes> out(static_cast<std::size_t>(size_));
    trade_with_root(out, mine);
    return rank_ == 0 ? std::move(out) : std::vector<Bytes>{};
  }

 private:
  template <class Each>
  static void each_piece(std::uint64_t bytes, Each&& each) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;
    for (std::uint64_t from = 0; from < bytes; from += kPiece)
      each(static_cast<std::size_t>(from), static_cast<int>(std::min(kPiece, bytes - from)));
  }
  void trade_with_root(std::vector<Bytes>& out, const Bytes& mine) {
    std::uint64_t size = mine.size();
    if (rank_ != 0) {
      MPI_Send(&size, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
      each_piece(size, [&](std::size_t from, int count) {
        MPI_Send(mine.data() + from, count, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
      });
      return;
    }
    out[0] = mine;
    for (int r = 1; r < size_; ++r) {
      MPI_Recv(&size, 1, MPI_UINT64_T, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      Bytes& from_r = out[static_cast<std::size_t>(r)];
      from_r.resize(size);
      each_piece(size, [&](std::size_t from, int count) {
        MPI_Recv(from_r.data() + from, count, MPI_BYTE, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
    }
  }

  int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace mrc::sim

extern "C" mrc::sim::Ranks* mrc_make_ranks() { return new mrc::sim::MpiRanks; }
