#include "tools/bulk_side.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "lib/nic_qp.h"

namespace mrc::tools {
namespace {

using engine::QpState;

constexpr std::uint64_t kCreditId = ~std::uint64_t{0};
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
constexpr std::uint32_t kQueueDepth = 4096;

/// Bytes that have left by each interface of this network namespace.
void read_sent(const lib::DeviceConfig& config, BulkSample& out) {
  std::ifstream file("/proc/thread-self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t value = 0;
    for (int column = 0; column < 9; ++column) numbers >> value;  // the ninth: transmitted bytes
    for (std::size_t p = 0; p < config.ports.size() && p < kMaxPlanes; ++p) {
      if (config.ports[p].interface.name == name) out.sent[p] = value;
    }
  }
}

Status trade(int channel, const BulkAddress& ours, BulkAddress& theirs) {
  if (::send(channel, &ours, sizeof ours, MSG_NOSIGNAL) != sizeof ours ||
      ::recv(channel, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
    return Error{EPIPE, "the other side of the transfer has gone"};
  return Done{};
}

}  // namespace

void fill_pattern(std::uint64_t number, std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (number + 1) * kOdd ^ i;
}

bool is_pattern(std::uint64_t number, std::span<const std::uint64_t> bytes) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) wrong |= bytes[i] ^ ((number + 1) * kOdd ^ i);
  return wrong == 0;
}

BulkSide::BulkSide(const BulkSettings& settings)
    : settings_(settings), memory_(settings.message_bytes / 8 * settings.slots + 2) {}

Result<std::unique_ptr<BulkSide>> BulkSide::open(const BulkSettings& settings) {
  const auto devices = lib::discover();
  if (!devices) return devices.error();
  if (devices->empty()) return Error{ENODEV, "no MRC device here: MRC_DEVICES names no interface"};
  auto device_settings = lib::read_device_settings();
  if (!device_settings) return device_settings.error();
  if (settings.evs != 0) device_settings->evs = settings.evs;
  if (settings.window != 0) {
    device_settings->cc = engine::CcAlgorithm::constant;
    device_settings->cc_window = settings.window;
  }
  if (settings.queue_us != 0 && std::getenv("MRC_QUEUE_US") == nullptr)
    device_settings->learn_queue = settings.queue_us * 1us;
  if (settings.slack_us != 0) device_settings->suspect_slack = settings.slack_us * 1us;
  if (std::getenv("MRC_SPRAY_UNIT") == nullptr) device_settings->spray_unit = settings.spray_unit;
  std::unique_ptr<BulkSide> side(new BulkSide(settings));
  auto device = lib::NicDevice::open(devices->front(), *device_settings);
  if (!device) return device.error();
  side->device_ = *std::move(device);
  side->sample_.spray_unit = device_settings->spray_unit;
  side->pd_ = *side->device_->create_pd();
  side->cq_ = *side->device_->create_cq(kQueueDepth * 2, nullptr);
  const auto region = side->device_->register_memory(
      side->pd_, side->memory_.data(), side->memory_.size() * 8,
      reinterpret_cast<std::uint64_t>(side->memory_.data()), {.local_write = true, .remote_write = true});
  if (!region) return region.error();
  side->region_ = *region;
  const auto qp = side->device_->create_qp({.pd = side->pd_,
                                            .send_cq = side->cq_,
                                            .recv_cq = side->cq_,
                                            .send_depth = kQueueDepth,
                                            .recv_depth = kQueueDepth,
                                            .max_inline = 64});
  if (!qp) return qp.error();
  side->qp_ = *qp;
  return side;
}

BulkSide::~BulkSide() {
  if (qp_ != nullptr) device_->destroy_qp(qp_);
  if (region_.rkey != 0) device_->deregister(region_);
  if (cq_ != nullptr) device_->destroy_cq(cq_);
}

Status BulkSide::connect(int channel, std::uint32_t receives) {
  BulkAddress ours{device_->config().ports[0].address, qp_->qpn().value, region_.rkey,
                   reinterpret_cast<std::uint64_t>(memory_.data())};
  if (auto traded = trade(channel, ours, peer_); !traded) return traded;
  lib::QpAttributes a;
  a.remote_write = true;
  a.remote_gid = peer_.gid;
  a.remote_qpn = Qpn(peer_.qpn);
  a.mpr = a.mpr_dest = 32;
  a.max_wimm = a.max_wimm_dest = static_cast<std::uint16_t>(std::max(settings_.slots, 32u));
  a.timeout = settings_.timeout;
  // A lab's faults last longer than a datacentre's: the transport retries for ever, and the test's own clock
  // decides when that is too long.
  a.exponential_retries = engine::kRetryForEver;
  for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) {
    if (const int error = qp_->modify(next, a); error != 0)
      return Error{error, "connect the QP: " + std::string(std::strerror(error))};
  }
  for (std::uint32_t i = 0; i < receives; ++i) post_receive();
  BulkAddress ready;
  auto traded = trade(channel, ours, ready);  // both ends listen before either speaks
  last_ = lib::steady_now();
  sample_.began_ns = last_.time_since_epoch().count();
  return traded;
}

std::span<std::uint64_t> BulkSide::slot(std::uint64_t number) {
  const std::size_t words = settings_.message_bytes / 8;
  return std::span(memory_).subspan(number % settings_.slots * words, words);
}

std::uint64_t BulkSide::heard(std::size_t word) const {
  return std::atomic_ref(const_cast<std::uint64_t&>(memory_[word])).load(std::memory_order_acquire);
}

int BulkSide::post_message(std::uint64_t number) {
  const auto from = slot(number);
  const lib::Sge sge{reinterpret_cast<std::uint64_t>(from.data()), settings_.message_bytes, region_.lkey};
  const std::uint64_t offset = number % settings_.slots * settings_.message_bytes;
  const lib::SendRequest request{.wr_id = number,
                                 .remote_va = peer_.va + offset,
                                 .rkey = peer_.rkey,
                                 .imm = static_cast<std::uint32_t>(number),
                                 .op = lib::SendOp::write_imm,
                                 .sges = std::span(&sge, 1)};
  return qp_->post_send(std::span(&request, 1)).error;
}

// Placement is unordered: of two credits on their way the older may be placed last, and stay.
int BulkSide::post_credit(std::uint64_t taken, std::int64_t late_ns) {
  if (credit_on_its_way_) return EAGAIN;
  const std::uint64_t words[] = {taken, static_cast<std::uint64_t>(late_ns)};
  const lib::Sge sge{reinterpret_cast<std::uint64_t>(words), sizeof words, 0};
  const lib::SendRequest request{.wr_id = kCreditId,
                                 .remote_va = peer_.va + credit_word() * 8,
                                 .rkey = peer_.rkey,
                                 .inline_data = true,
                                 .sges = std::span(&sge, 1)};
  const int error = qp_->post_send(std::span(&request, 1)).error;
  credit_on_its_way_ = error == 0;
  return error;
}

int BulkSide::post_receive() {
  const std::uint64_t id = 0;
  return qp_->post_receive(std::span(&id, 1)).error;
}

bool BulkSide::poll(const std::function<void()>& received) {
  lib::WorkCompletion done[32];
  const int n = cq_->poll(done);
  for (int i = 0; i < n; ++i) {
    if (done[i].status != engine::WorkStatus::success) {
      ++sample_.failed;
    } else if (done[i].op == lib::CompletionOp::receive_imm) {
      received();
    } else if (done[i].wr_id == kCreditId) {
      credit_on_its_way_ = false;
    } else {
      ++sample_.messages;
      sample_.bytes += settings_.message_bytes;
      const Time now = lib::steady_now();
      sample_.longest_gap_ns = std::max(sample_.longest_gap_ns, (now - last_).count());
      last_ = now;
      sample_.done_ns = now.time_since_epoch().count();
    }
  }
  return n > 0;
}

void BulkSide::note_device() {
  const lib::NicDevice::Hold hold(*device_);
  const nic::Qp& qp = static_cast<lib::NicQp*>(qp_)->nic_qp();
  if (!qp.engine) return;
  const engine::RequestorCounters& counters = qp.engine->requestor().counters();
  sample_.packets = counters.packets;
  sample_.repairs = counters.repairs;
  sample_.probes = counters.probes;
  sample_.lost_by_order = counters.lost_by_order;
  sample_.lost_by_silence = counters.lost_by_silence;
  sample_.lost_by_timeout = counters.lost_by_timeout;
  sample_.retries = counters.retries;
  sample_.evs = sample_.bad_evs = {};
  const engine::PathSet& paths = qp.engine->paths();
  for (int s = 0; s < paths.size(); ++s) {
    const EvSlot slot(static_cast<std::uint16_t>(s));
    const std::size_t plane = paths.path(slot).port.value - 1u;
    if (plane >= kMaxPlanes) continue;
    ++sample_.evs[plane];
    sample_.bad_evs[plane] += paths.state(slot) == engine::EvState::assumed_bad;
  }
}

const BulkSample& BulkSide::take_sample() {
  const Time now = lib::steady_now();
  sample_.when_ns = now.time_since_epoch().count();
  sample_.longest_gap_ns = std::max(sample_.longest_gap_ns, (now - last_).count());  // a gap that still lasts
  sample_.planes = static_cast<std::uint32_t>(device_->config().ports.size());
  sample_.ports_up = 0;
  for (std::uint32_t p = 0; p < sample_.planes; ++p) {
    if (device_->port_status(PortId(static_cast<std::uint8_t>(p + 1))).active()) sample_.ports_up |= 1u << p;
  }
  read_sent(device_->config(), sample_);
  const lib::DeviceCounters counters = device_->counters();
  sample_.duplicates = counters.duplicates;
  sample_.overruns = counters.overrun;
  sample_.refused = counters.refused;
  note_device();
  return sample_;
}

}  // namespace mrc::tools
