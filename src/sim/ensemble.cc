#include "sim/ensemble.h"

namespace mrc::sim {
namespace {

constexpr int kWordShift = 60;                            // of timers and signals
constexpr std::uint64_t kBegin = std::uint64_t{1} << 59;  // a timer that starts the member
constexpr std::uint64_t kOwnWord = kBegin - 1;

/// What a member asks for, with its number added.
class MemberActions final : public Actions {
 public:
  MemberActions(Actions& outer, std::uint32_t member) : outer_(outer), member_(member) {}
  Ps now() const override { return outer_.now(); }
  void send(const Message& m) override {
    const std::uint32_t mark = member_ << Ensemble::kMemberShift;
    outer_.send({m.peer, m.bytes, m.tag | mark, m.flow | mark});
  }
  void wait(Ps delay, std::uint64_t token) override { outer_.wait(delay, token | mark()); }
  void signal(Host host, std::uint64_t word) override { outer_.signal(host, word | mark()); }

 private:
  std::uint64_t mark() const { return std::uint64_t{member_} << kWordShift; }
  Actions& outer_;
  std::uint32_t member_;
};

}  // namespace

bool Ensemble::takes_part(Host host) const {
  for (const Member& m : members_) {
    if (m.load->takes_part(host)) return true;
  }
  return false;
}

std::uint32_t Ensemble::peers(Host host) const {
  std::uint32_t sum = 0;
  for (const Member& m : members_) sum += m.load->peers(host);
  return sum;
}

void Ensemble::start(Host host, Actions& actions) {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].load->takes_part(host)) continue;
    MemberActions own(actions, i);
    if (members_[i].start > 0) {
      own.wait(members_[i].start, kBegin);
    } else {
      members_[i].load->start(host, own);
    }
  }
}

void Ensemble::on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) {
  MemberActions own(actions, member_of(tag));
  members_[member_of(tag)].load->on_received(host, peer, own_part(tag), own);
}

void Ensemble::on_sent(Host host, const Message& message, Actions& actions) {
  const std::uint32_t member = member_of(message.tag);
  MemberActions own(actions, member);
  members_[member].load->on_sent(
      host, {message.peer, message.bytes, own_part(message.tag), own_part(message.flow)}, own);
}

void Ensemble::on_timer(Host host, std::uint64_t token, Actions& actions) {
  const auto member = static_cast<std::uint32_t>(token >> kWordShift);
  MemberActions own(actions, member);
  Workload& load = *members_[member].load;
  if ((token & kBegin) != 0) return load.start(host, own);
  load.on_timer(host, token & kOwnWord, own);
}

void Ensemble::on_signal(Host host, std::uint64_t word, Actions& actions) {
  const auto member = static_cast<std::uint32_t>(word >> kWordShift);
  MemberActions own(actions, member);
  members_[member].load->on_signal(host, word & kOwnWord, own);
}

std::string Ensemble::unfinished() const {
  std::string out;
  for (const Member& m : members_) {
    const std::string what = m.load->unfinished();
    if (what.empty()) continue;
    out += (out.empty() ? "" : "; ") + (members_.size() > 1 ? "job '" + m.name + "': " + what : what);
  }
  return out;
}

std::vector<std::uint64_t> Ensemble::standing(Host host) const {
  std::vector<std::uint64_t> out;  // of each member that is there: how much, and that
  for (const Member& m : members_) {
    if (!m.load->takes_part(host)) continue;
    const auto own = m.load->standing(host);
    out.push_back(own.size());
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

void Ensemble::adopt(Host host, std::span<const std::uint64_t> standing) {
  for (const Member& m : members_) {
    if (!m.load->takes_part(host)) continue;
    m.load->adopt(host, standing.subspan(1, standing[0]));
    standing = standing.subspan(1 + standing[0]);
  }
}

}  // namespace mrc::sim
