// What a controller asks of a device: ports on and off, EVs denied, endpoint operations.
#include <cerrno>
#include <condition_variable>

#include "lib/nic_cq.h"
#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

/// One call of endpoint_batch. The cookie of a request is its address plus its index.
struct NicDevice::Batch {
  std::vector<EndpointAnswer>& answers;
  std::vector<char> slots;  // their addresses are the cookies
  std::size_t open;
  std::condition_variable done;

  bool owns(std::uint64_t cookie) const {
    const auto first = reinterpret_cast<std::uint64_t>(slots.data());
    return cookie >= first && cookie - first < slots.size();
  }
  std::uint64_t cookie(std::size_t i) const { return reinterpret_cast<std::uint64_t>(slots.data() + i); }
};

int NicDevice::set_port_admin(PortId port, bool enabled) {
  if (port.value < 1 || port.value > config_.ports.size()) return EINVAL;
  if (node_ != nullptr) {  // for every process; others hear it from mrcd
    if (const int error = node_->set_port(port, enabled); error != 0) return error;
  }
  const Hold hold(*this);
  if (!alive_) return ENODEV;
  const Time now = steady_now();
  driver_->set_port_admin(now, port, enabled);
  transmit_now(now);
  return 0;
}

int NicDevice::endpoint_batch(std::span<const EndpointRequest> requests, Duration timeout,
                              std::vector<EndpointAnswer>& answers) {
  for (const EndpointRequest& r : requests) {
    if (r.srv6 || r.port.value < 1 || r.port.value > ports_.size() || !owns(r.from)) return EINVAL;
  }
  answers.clear();
  const port::NoCancel whole;  // the device knows where the batch is
  Batch batch{answers, std::vector<char>(requests.size()), requests.size(), {}};
  std::unique_lock lock(mutex_);
  if (!alive_) return ENODEV;
  const Time now = steady_now();
  if (nic_->endpoint_room() < requests.size()) return EAGAIN;
  batches_.insert(&batch);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const EndpointRequest& r = requests[i];
    nic::EndpointWork work{
        .op = r.op, .ev = r.ev, .port = r.port, .port_status = r.port_status, .cookie = batch.cookie(i)};
    work.to.bytes = r.to;
    if (r.dscp != 0) work.dscp = r.dscp;
    nic_->post_endpoint(now, work);
  }
  transmit_now(now);
  // The progress thread takes the answers in; somebody who waits is no application that polls.
  progress_.add_waiter();
  batch.done.wait_for(lock, timeout, [&] { return batch.open == 0; });
  progress_.remove_waiter();
  batches_.erase(&batch);
  for (std::size_t i = 0; i < requests.size(); ++i) nic_->cancel_endpoint(batch.cookie(i));
  return answers.size() == requests.size() ? 0 : ETIMEDOUT;
}

void NicDevice::on_endpoint_result(const nic::EndpointResult& result) {
  for (Batch* batch : batches_) {
    if (!batch->owns(result.cookie)) continue;
    const auto index = static_cast<std::size_t>(result.cookie - batch->cookie(0));
    if (result.answered) batch->answers.push_back({index, result.port, result.rtt, result.service_time_out});
    if (--batch->open == 0) batch->done.notify_one();
    return;
  }
}

void NicDevice::on_event(const engine::Event& event) {
  const auto* change = std::get_if<engine::PathChanged>(&event.body);
  if (change == nullptr) return;
  if (const nic::Qp* qp = nic_->find(event.qpn); qp != nullptr)
    static_cast<NicQp*>(qp->made.owner)->note_path(*change);
}

void NicDevice::on_ev_denied(std::uint64_t profile, std::uint32_t slot, bool denied) {
  const Hold hold(*this);
  if (!alive_) return;
  const Time now = steady_now();
  nic_->for_each_qp([&](nic::Qp& qp) {
    auto* ours = static_cast<NicQp*>(qp.made.owner);
    if (ours->attributes().ev_profile == profile) ours->set_denied(now, slot, denied);
  });
  transmit_now(now);
}

}  // namespace mrc::lib
