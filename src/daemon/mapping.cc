#include "daemon/mapping.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "map/this_node.h"
#include "topo/spec.h"

namespace mrc::daemon {
namespace {

Result<topo::Topology> read_fabric(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return port::errno_error("read the fabric " + path);
  const auto spec = topo::parse_spec(text.str(), path);
  if (!spec) return spec.error();
  return topo::Topology::make(*spec);
}

}  // namespace

Result<std::unique_ptr<Mapping>> Mapping::open(const std::string& fabric, const std::string& host) {
  auto topo = read_fabric(fabric);
  if (!topo) return topo.error();
  const auto node = topo->find_node(host);
  if (!node || node->tier != topo::Tier::host)
    return Error{EINVAL, "there is no host '" + host + "' in " + fabric + "; hosts are h0, h1, ..."};
  std::unique_ptr<Mapping> made(new Mapping(std::move(*topo), map::HostId(node->index)));
  if (auto here = map::check_this_node(made->topo_, made->host_); !here) return here.error();
  auto mapper = map::Mapper::open(made->topo_, made->host_, {});
  if (!mapper) return mapper.error();
  made->mapper_ = std::move(*mapper);
  return made;
}

int Mapping::wait_ms() const {
  const Duration left = mapper_->next() - map::Mapper::now();
  return static_cast<int>(std::clamp<std::int64_t>((left + 999'999ns) / 1ms, 0, 1000));
}

bool Mapping::turn() {
  const Time now = map::Mapper::now();
  if (!mapper_->turn(now)) return false;
  const bool news = mapper_->survey().events() != told_;
  if (news) tell_news();
  return news;
}

void Mapping::tell_news() {
  const auto& history = mapper_->survey().history();
  const std::uint64_t fresh = std::min<std::uint64_t>(mapper_->survey().events() - told_, history.size());
  told_ = mapper_->survey().events();
  for (std::size_t i = history.size() - fresh; i < history.size(); ++i) {
    const map::Event& e = history[i];
    std::fprintf(stderr, "mrcd: the mapper: %s %s %s\n", map::to_string(e.kind),
                 map::name(topo_, e.culprit).c_str(), e.culprit.fault == map::Fault::dead ? "dead" : "lossy");
  }
}

map::Denylist::Change Mapping::apply(DeviceState& device, std::uint64_t profile) {
  return list_of(device).apply(profile, mapper_->survey().findings());
}

}  // namespace mrc::daemon
