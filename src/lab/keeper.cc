// What the keeper does when it is told something.
#include "lab/keeper.h"

#include <cerrno>
#include <charconv>

#include "base/json.h"

namespace mrc::lab {
namespace {

using std::chrono::microseconds;

template <class Number>
bool parse(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

Error misunderstood(const Words& words) {
  std::string all;
  for (const std::string& word : words) all += word + ' ';
  return {EINVAL, "the lab does not understand: " + all};
}

How how_of(const std::string& word) { return word == "silent" ? How::silent : How::admin; }

}  // namespace

std::string Keeper::status() const {
  const topo::Topology& topo = wiring_.topology();
  JsonWriter json;
  json.begin_object();
  json.field("planes", topo.planes()).field("hosts", topo.hosts()).field("switches", topo.switches());
  json.field("links", topo.links()).field("evs_per_plane", topo.evs_per_plane());
  json.begin_array("host_addresses");
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) {
    json.begin_object().field("host", topo.name(topo::host_node(topo::HostId(h)))).begin_array("addresses");
    for (topo::Plane p = 0; p < topo.planes(); ++p) json.value(to_string(topo.address(topo::HostId(h), p)));
    json.end_array().end_object();
  }
  json.end_array().begin_array("soft_tiers");
  for (const topo::Tier tier : wiring_.settings().soft)
    json.value("t" + std::to_string(static_cast<int>(tier) - static_cast<int>(topo::Tier::t0)));
  json.end_array().begin_array("faults");
  for (const auto& [at, end] : faults_.broken()) {
    json.begin_object().field("node", topo.name(at.node)).field("interface", topo.port_name(at));
    json.field("link", topo.name(*topo.link_at(at))).field("down", end.down).field("loss", end.loss);
    json.field("bits_per_second", end.rate).end_object();
  }
  json.end_array().begin_array("flapping");
  for (const Flap& f : flaps_)
    json.begin_object().field("target", f.target.name).field("times_left", f.times_left).end_object();
  json.end_array().end_object();
  return json.text();
}

Result<std::string> Keeper::open_node(const Words& words, std::vector<int>& descriptors) {
  const auto node = wiring_.topology().find_node(words[1]);
  if (!node)
    return Error{EINVAL,
                 "there is no node '" + words[1] + "'; hosts are h0, h1, ..., switches p0.t0.0, p0.t1.0"};
  descriptors = {wiring_.space(*node), user_space_.get(), pid_space_.get()};
  std::string devices;
  if (node->tier == topo::Tier::host) {
    for (topo::Plane p = 0; p < wiring_.topology().planes(); ++p)
      devices += (p > 0 ? "," : "") + wiring_.topology().port_name({*node, p});
  }
  return devices;
}

Result<std::string> Keeper::start_flap(const Words& words) {
  auto target = find_target(wiring_.topology(), words[1]);
  if (!target) return target.error();
  std::int64_t down = 0, up = 0;
  std::uint32_t times = 0;
  if (!parse(words[2], down) || !parse(words[3], up) || !parse(words[4], times) || down <= 0 || up <= 0 ||
      times == 0)
    return misunderstood(words);
  flaps_.push_back({*std::move(target), how_of(words[5]), microseconds(down), microseconds(up), times, false,
                    Clock::now()});
  return std::string();
}

Result<std::string> Keeper::break_something(const Words& words) {
  const auto target = find_target(wiring_.topology(), words[1]);
  if (!target) return target.error();
  Status done = misunderstood(words);
  double share = 0;
  std::uint64_t rate = 0;
  if (words[0] == "heal") {
    std::erase_if(flaps_, [&](const Flap& f) { return f.target.name == words[1]; });
    done = faults_.heal(*target);
  } else if (words[0] == "fail" && words.size() == 3) {
    done = faults_.fail(*target, how_of(words[2]));
  } else if (words[0] == "drop" && words.size() == 3 && parse(words[2], share)) {
    done = faults_.drop(*target, share);
  } else if (words[0] == "rate" && words.size() == 3 && parse(words[2], rate)) {
    done = faults_.rate(*target, rate);
  }
  if (!done) return done.error();
  return std::string();
}

Result<std::string> Keeper::act(const Words& words, std::vector<int>& descriptors) {
  const std::string& verb = words[0];
  if (verb == "status") return status();
  if (verb == "topology") return to_toml(wiring_.topology().spec());
  if (verb == "down") return ending_ = true, std::string();
  if (verb == "heal" && words.size() == 1) {
    flaps_.clear();
    const auto done = faults_.heal_all();
    return done ? Result<std::string>(std::string()) : done.error();
  }
  if (verb == "enter" && words.size() == 2) return open_node(words, descriptors);
  if (verb == "flap" && words.size() == 6) return start_flap(words);
  return words.size() >= 2 ? break_something(words) : misunderstood(words);
}

Answer Keeper::obey(const Words& words, std::vector<int>& descriptors) {
  Answer answer;
  auto done = act(words, descriptors);
  if (done) {
    answer.text = *std::move(done);
  } else {
    answer.code = done.error().code != 0 ? done.error().code : EIO;
    answer.text = done.error().what;
  }
  return answer;
}

}  // namespace mrc::lab
