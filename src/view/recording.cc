#include "view/recording.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace mrc::view {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = 32u << 20, kMostFrames = 200'000;

Error wrong(const std::string& path, std::size_t line, const std::string& what) {
  return {EINVAL, path + ":" + std::to_string(line) + ": " + what};
}

/// What a frame must have for anybody to draw it.
bool is_frame(const std::string& text) {
  const json f = json::parse(text, nullptr, false);
  const auto number = [&](const char* key) { return f.contains(key) && f[key].is_number(); };
  return f.is_object() && number("n") && number("t") && f.contains("load") && f["load"].is_string() &&
         f.contains("planes") && f["planes"].is_array();
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path, const Fabric& fabric) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return Error{errno, "record to " + path + ": " + std::strerror(errno)};
  std::unique_ptr<Recorder> r(new Recorder(file, path));
  r->add(to_json(fabric));
  return r;
}

Recorder::~Recorder() { (void)close(); }

void Recorder::add(const std::string& frame) {
  if (file_ == nullptr || failed_) return;
  failed_ = std::fputs(frame.c_str(), file_) < 0 || std::fputc('\n', file_) < 0;
}

Status Recorder::close() {
  if (file_ == nullptr) return Done{};
  failed_ |= std::fclose(std::exchange(file_, nullptr)) != 0;
  return failed_ ? Status(Error{EIO, path_ + " could not be written whole; is the disk full?"}) : Done{};
}

Result<Fabric> parse_fabric(std::string_view text) {
  const json f = json::parse(text, nullptr, false);
  const auto has_text = [&](const char* key) { return f.contains(key) && f[key].is_string(); };
  if (!f.is_object() || f.value("format", json()) != "openmrc.view.1" || !has_text("toml") ||
      !has_text("name"))
    return Error{EINVAL,
                 "this is no recording of a fabric; `mrc sim --record` and `mrc web --record` write them"};
  auto spec = topo::parse_spec(f["toml"].get<std::string>(), "the recorded topology");
  if (!spec) return spec.error();
  Fabric out;
  out.name = f["name"];
  out.source = "recording";
  out.spec = *spec;
  for (const json& name : f.value("plane_names", json::array())) {
    if (name.is_string()) out.plane_names.push_back(name);
  }
  return out;
}

Result<std::unique_ptr<RecordingSource>> RecordingSource::open(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{errno, path + ": " + std::strerror(errno)};
  std::string line;
  if (!std::getline(file, line)) return wrong(path, 1, "the recording is empty");
  auto fabric = parse_fabric(line);
  if (!fabric) return wrong(path, 1, fabric.error().what);
  const auto topo = topo::Topology::make(fabric->spec);
  if (!topo) return wrong(path, 1, topo.error().what);
  fabric->spec = topo->spec();
  std::unique_ptr<RecordingSource> out(new RecordingSource(std::move(*fabric), *topo));
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (line.size() > kLongestLine || out->frames_.size() == kMostFrames)
      return wrong(path, number, "more than a page can show; record for a shorter time");
    // The last line of a recording that was cut off is no loss.
    if (file.eof() && !is_frame(line)) break;
    if (!is_frame(line)) return wrong(path, number, "this is no frame of a recording");
    out->frames_.push_back(std::move(line));
  }
  return out;
}

RecordingSource::~RecordingSource() {
  if (thread_.joinable()) thread_.join();
}

void RecordingSource::start(Sink sink) {
  thread_ = std::thread([this, sink = std::move(sink)] {
    for (const std::string& frame : frames_) sink(frame);
  });
}

Status RecordingSource::act(const Action& action) {
  if (action.verb == Action::Verb::focus) return Done{};
  return Error{EROFS, "this is a recording: what happened can not be changed"};
}

bool is_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '{';
}

}  // namespace mrc::view
