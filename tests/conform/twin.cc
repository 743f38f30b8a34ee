#include "twin.h"

#include <cstring>

#include "wire/icrc.h"

namespace mrc::conform {

void mend_icrc(std::vector<std::uint8_t>& bytes, const wire::Datagram& around) {
  wire::icrc_of(around, bytes).store(bytes.data() + bytes.size() - wire::kIcrcSize);
}

class TwinPort final : public port::WrappedPort {
 public:
  TwinPort(std::unique_ptr<port::Port> inner, std::shared_ptr<Twin*> twin)
      : WrappedPort(std::move(inner)), twin_(std::move(twin)) {}

  std::size_t tx(std::span<port::TxTrain> trains) override {
    for (port::TxTrain& train : trains) pass_out(train);
    flush();
    return trains.size();
  }

  std::size_t rx(std::span<port::RxPacket> out) override {
    const std::size_t n = WrappedPort::rx(out);
    kept_.clear();
    kept_.reserve(n);
    std::size_t left = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (pass_in(out[i])) out[left++] = out[i];
    }
    flush();
    return left;
  }

 private:
  Twin& twin() { return **twin_; }
  const Defect& defect() { return twin().defect_; }

  static Passing parse(wire::Bytes bytes, const wire::Datagram& around, Verdict& verdict) {
    wire::Parsed parsed;
    verdict = wire::parse_datagram(bytes, around, {}, parsed);
    return {parsed.packet,
            around,
            {parsed.payload.begin(), parsed.payload.end()},
            verdict == Verdict::trimmed_ok};
  }

  static std::vector<std::uint8_t> emit(const Passing& p) {
    std::vector<std::uint8_t> bytes(p.payload.size() + wire::kMaxHead + sizeof(wire::Tail));
    bytes.resize(wire::emit_datagram(p.packet, p.around, p.payload, {}, bytes));
    return bytes;
  }

  void pass_out(const port::TxTrain& train) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < train.piece_count; ++i) {
      const auto* from = static_cast<const std::uint8_t*>(train.pieces[i].iov_base);
      bytes.insert(bytes.end(), from, from + train.pieces[i].iov_len);
    }
    wire::Datagram d;
    d.source = {local().ip};
    d.destination = {train.to->ip};
    d.source_port = train.source_port;
    d.destination_port = wire::Settings{}.udp_port;
    d.traffic_class = train.tos;
    Verdict verdict;
    Passing p = parse(bytes, d, verdict);
    if (auto* write = p.as<wire::Write>(); write != nullptr) {
      p.seen = !twin().first_sent.emplace(p.packet.psn.value(), p).second;
    }
    if (!defect().out || defect().out(twin(), p)) transmit(p);
  }

  void transmit(const Passing& p) {
    std::vector<std::uint8_t> bytes = emit(p);
    if (defect().raw_out) defect().raw_out(bytes, p.around);
    const iovec piece{bytes.data(), bytes.size()};
    const port::Address to{p.around.destination.bytes};
    port::TxTrain train{.pieces = &piece,
                        .piece_count = 1,
                        .packet_bytes = static_cast<std::uint32_t>(bytes.size()),
                        .source_port = p.around.source_port,
                        .tos = p.around.traffic_class,
                        .to = &to};
    WrappedPort::tx({&train, 1});
  }

  void flush() {
    for (Passing& p : twin().injected) {
      p.around.source = {local().ip};
      transmit(p);
    }
    twin().injected.clear();
  }

  bool pass_in(port::RxPacket& packet) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(packet.data);
    std::vector<std::uint8_t> bytes(data, data + packet.size);
    wire::Datagram d;
    d.source = {packet.from->ip};
    d.destination = {local().ip};
    d.source_port = packet.source_port;
    d.destination_port = wire::Settings{}.udp_port;
    d.traffic_class = packet.tos;
    if (defect().raw_in) defect().raw_in(bytes, d);
    Verdict verdict;
    Passing p = parse(bytes, d, verdict);
    const bool whole = verdict == Verdict::ok;
    if (whole && p.as<wire::Write>() != nullptr)
      p.seen = !twin().received.insert(p.packet.psn.value()).second;
    if ((whole || p.trimmed) && defect().in && !defect().in(twin(), p)) return false;
    if (const auto* sack = p.as<wire::Sack>(); whole && sack != nullptr) twin().heard_sack = true;
    kept_.push_back(whole ? emit(p) : std::move(bytes));
    packet.data = reinterpret_cast<const std::byte*>(kept_.back().data());
    packet.size = static_cast<std::uint32_t>(kept_.back().size());
    packet.tos = p.around.traffic_class;
    return true;
  }

  std::shared_ptr<Twin*> twin_;
  std::vector<std::vector<std::uint8_t>> kept_;
};

namespace {

SelfOptions options_for(const Defect& defect, const std::shared_ptr<Twin*>& self) {
  return {.planes = defect.planes,
          .adjust = defect.adjust,
          .congestion = [defect](auto inner) { return misled(std::move(inner), defect); },
          .wrap = [self](std::unique_ptr<port::Port> inner) -> std::unique_ptr<port::Port> {
            return std::make_unique<TwinPort>(std::move(inner), self);
          }};
}

}  // namespace

Twin::Twin(const Defect& defect) : Twin(defect, std::make_shared<Twin*>(nullptr)) {}

Twin::Twin(const Defect& defect, std::shared_ptr<Twin*> self)
    : SelfDevice(options_for(defect, self)), defect_(defect) {
  *self = this;
}

Result<Target> Twin::connect(const Terms& terms) {
  auto target = SelfDevice::connect(terms);
  received.clear();
  injected.clear();
  first_sent.clear();
  early.clear();
  posted.clear();
  settled.clear();
  low = {};
  heard_sack = once = false;
  congested = terms.congestion.window != 0;
  return target;
}

Status Twin::post(const std::vector<PostedWrite>& writes) {
  posted.insert(posted.end(), writes.begin(), writes.end());
  return SelfDevice::post(writes);
}

Result<std::vector<Completed>> Twin::completions() {
  auto done = SelfDevice::completions();
  if (done && defect_.completions) defect_.completions(*this, *done);
  return done;
}

Status Twin::deny(Ev ev) { return defect_.deaf_to_controller ? Status(Done{}) : SelfDevice::deny(ev); }

void Twin::scribble(std::uint64_t to, const std::vector<std::uint8_t>& payload) {
  std::memcpy(bytes() + (to - va()), payload.data(), payload.size());
}

}  // namespace mrc::conform
