// Queues and filters: how a link gets slow, lossy or dead while it looks alive.
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <netinet/in.h>

#include <algorithm>

#include "lab/kernel.h"

namespace mrc::lab {
namespace {

constexpr std::uint32_t kRootHandle = 0x10000;
constexpr std::uint32_t kArrivals = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS);
constexpr std::uint32_t kDepartures = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
constexpr std::uint64_t kBurstNs = 1'000'000;
constexpr std::uint64_t kTick = 64;  // ns in the kernel's tick of packet schedulers

tcmsg about(unsigned index, std::uint32_t parent) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = static_cast<int>(index);
  header.tcm_parent = parent;
  return header;
}

void add_tbf(Messages& out, unsigned index, std::uint64_t bits_per_second, const Shaping& shaping) {
  const std::uint64_t bytes = std::max<std::uint64_t>(bits_per_second / 8, 1);
  const std::uint64_t burst = std::max<std::uint64_t>(bytes * kBurstNs / 1'000'000'000, shaping.least_burst);
  tc_tbf_qopt options{};
  options.rate.rate = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.limit = static_cast<std::uint32_t>(burst + bytes * shaping.queue_ns / 1'000'000'000);
  options.buffer = static_cast<std::uint32_t>(burst * 1'000'000'000 / bytes / kTick);
  tcmsg header = about(index, TC_H_ROOT);
  header.tcm_handle = kRootHandle;
  out.begin(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(TCA_KIND, "tbf", sizeof "tbf");
  out.nested(TCA_OPTIONS, [&] {
    out.attribute(TCA_TBF_PARMS, options);
    out.attribute(TCA_TBF_BURST, static_cast<std::uint32_t>(burst));
    if (bytes > UINT32_MAX) out.attribute(TCA_TBF_RATE64, bytes);
  });
  out.end();
}

}  // namespace

void set_rate(Messages& out, unsigned index, std::uint64_t bits_per_second, bool had_one,
              const Shaping& shaping) {
  if (bits_per_second != 0) return add_tbf(out, index, bits_per_second, shaping);
  if (!had_one) return;
  tcmsg header = about(index, TC_H_ROOT);
  header.tcm_handle = kRootHandle;
  out.begin(RTM_DELQDISC, 0, header);
  out.end();
}

void add_hooks(Messages& out, unsigned index) {
  tcmsg header = about(index, TC_H_CLSACT);
  header.tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
  out.begin(RTM_NEWQDISC, NLM_F_CREATE, header);
  out.attribute(TCA_KIND, "clsact", sizeof "clsact");
  out.end();
}

// netem is missing in many kernels and drops at the sender's end, where the sender may notice. A classic BPF
// program on arrival needs no privilege beyond the namespace, and nobody notices.
void set_loss(Messages& out, unsigned index, Way way, double probability, bool had_one) {
  tcmsg header = about(index, way == Way::arrivals ? kArrivals : kDepartures);
  header.tcm_info = TC_H_MAKE(1u << 16, htons(ETH_P_ALL));
  if (had_one) {
    out.begin(RTM_DELTFILTER, 0, header);
    out.attribute(TCA_KIND, "bpf", sizeof "bpf");
    out.end();
  }
  if (probability <= 0) return;
  const auto threshold = static_cast<std::uint32_t>(std::min(probability, 1.0) * 4294967295.0);
  const sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM)},
      {BPF_JMP | BPF_JGT | BPF_K, 1, 0, threshold},
      {BPF_RET | BPF_K, 0, 0, TC_ACT_SHOT},
      {BPF_RET | BPF_K, 0, 0, static_cast<std::uint32_t>(TC_ACT_UNSPEC)},
  };
  out.begin(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, header);
  out.attribute(TCA_KIND, "bpf", sizeof "bpf");
  out.nested(TCA_OPTIONS, [&] {
    out.attribute(TCA_BPF_FLAGS, std::uint32_t{TCA_BPF_FLAG_ACT_DIRECT});
    out.attribute(TCA_BPF_OPS_LEN, std::uint16_t{std::size(program)});
    out.attribute(TCA_BPF_OPS, program, sizeof program);
  });
  out.end();
}

}  // namespace mrc::lab
