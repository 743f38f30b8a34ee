#include "port/shield.h"

#include "port/bpf.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace mrc::port {
namespace {

constexpr std::int32_t kIp = wire::Ethernet::kSize;
constexpr std::int32_t kIp6 = wire::Ipv6::kSize;
constexpr int kNextProgram = -1;  // TCX_NEXT
constexpr int kDrop = 2;          // TCX_DROP

class ShieldProgram {
 public:
  ShieldProgram(const Address& local, std::uint16_t udp_port) : local_(local), udp_port_(udp_port) {}

  std::vector<bpf_insn> make() {
    as_.move(Register::r6, Register::r1);
    as_.load_absolute(2, 12);
    as_.jump_if_not_equal(Register::r0, local_.is_v4() ? wire::kEtherIpv4 : wire::kEtherIpv6, pass_);
    local_.is_v4() ? match_v4() : match_v6();
    as_.move(Register::r0, kDrop);
    as_.exit();
    as_.place(pass_);
    as_.move(Register::r0, kNextProgram);
    as_.exit();
    return as_.finish();
  }

 private:
  void want(int bytes, std::int32_t offset, std::uint32_t value) {
    as_.load_absolute(bytes, offset);
    as_.jump_if_not_equal(Register::r0, static_cast<std::int32_t>(value), pass_);
  }
  void want_address(std::int32_t offset) {
    for (std::size_t at = local_.is_v4() ? 12 : 0; at < 16; at += 4, offset += 4)
      want(4, offset, wire::load32(local_.ip.data() + at));
  }
  void match_v4() {
    want(1, kIp, 0x45);
    want(1, kIp + 9, wire::kProtocolUdp);
    want(2, kIp + wire::Ipv4::kSize + 2, udp_port_);
    want_address(kIp + 16);
  }
  void match_v6() {
    const auto plain = as_.make_label(), drop = as_.make_label();
    as_.load_absolute(1, kIp + 6);
    as_.jump_if_equal(Register::r0, wire::kNextUdp, plain);
    as_.jump_if_not_equal(Register::r0, wire::kNextIpv6, pass_);
    want(1, kIp + kIp6 + 6, wire::kNextUdp);
    want(2, kIp + 2 * kIp6 + 2, udp_port_);
    want_address(kIp + kIp6 + 24);
    as_.jump(drop);
    as_.place(plain);
    want(2, kIp + kIp6 + 2, udp_port_);
    want_address(kIp + 24);
    as_.place(drop);
  }

  Address local_;
  std::uint16_t udp_port_;
  BpfAssembler as_;
  BpfAssembler::Label pass_ = as_.make_label();
};

}  // namespace

Result<Fd> raise_shield(std::uint32_t interface, const Address& local, std::uint16_t udp_port) {
  auto program = load_ingress_program(ShieldProgram(local, udp_port).make());
  if (!program) return program;
  return link_ingress_program(program->get(), interface);
}

}  // namespace mrc::port
