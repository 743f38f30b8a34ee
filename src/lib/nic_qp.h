// A queue pair of the device: attributes to the NIC's terms, requests to its work.
#pragma once

#include <deque>
#include <vector>

#include "lib/device.h"
#include "nic/nic.h"

namespace mrc::lib {

class NicDevice;
class NicCq;

class NicQp final : public QueuePair {
 public:
  NicQp(NicDevice& device, const QpInit& init) : device_(device), init_(init) {}

  Qpn qpn() const override { return qp_->qpn; }
  engine::QpState state() const override;
  int modify(engine::QpState next, const QpAttributes& attributes) override;
  std::size_t send_room() const override;
  Posted post_send(std::span<const SendRequest> requests) override;
  Posted post_receive(std::span<const std::uint64_t> wr_ids) override;

  void attach(nic::Qp& qp) { qp_ = &qp; }
  nic::Qp& nic_qp() { return *qp_; }
  const QpInit& init() const { return init_; }
  NicCq& send_cq() const;
  NicCq& recv_cq() const;
  /// A read's turn has come: everything before it is done. Fills in how it went; false when nobody wants to
  /// hear.
  bool finish_read(nic::Cqe& entry);
  void drop_reads() { reads_.clear(); }

  static constexpr std::uint8_t kReadTag = 1;

 private:
  struct Read {
    std::uint64_t wr_id;
    std::uint64_t remote_va;
    std::uint32_t rkey;
    bool signaled;
    std::vector<Sge> sges;
  };
  int connect(Time now, const QpAttributes& attributes);
  int start(Time now, const QpAttributes& attributes);
  int post_one(Time now, const SendRequest& request);
  int post_read(Time now, const SendRequest& request);
  engine::WorkStatus copy(const Read& read) const;

  NicDevice& device_;
  QpInit init_;
  nic::Qp* qp_ = nullptr;
  QpAttributes attributes_;
  std::deque<Read> reads_;
};

}  // namespace mrc::lib
