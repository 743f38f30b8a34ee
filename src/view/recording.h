// Recordings: what was seen, one JSON object per line; the fabric first, then its frames.
#pragma once

#include <cstdio>
#include <mutex>
#include <thread>

#include "view/source.h"

namespace mrc::view {

class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> open(const std::string& path, const Fabric& fabric);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add(const std::string& frame);
  /// Whether everything is on disk.
  Status close();

 private:
  Recorder(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

  std::FILE* file_;
  std::string path_;
  bool failed_ = false;
};

/// Gives all frames of a recording at once; who looks decides about time.
class RecordingSource final : public Source {
 public:
  /// Says the line that is wrong.
  static Result<std::unique_ptr<RecordingSource>> open(const std::string& path);
  ~RecordingSource() override;

  const Fabric& fabric() const override { return fabric_; }
  const topo::Topology& topo() const override { return topo_; }
  const std::vector<std::string>& frames() const { return frames_; }
  void start(Sink sink) override;
  Status act(const Action& action) override;

 private:
  RecordingSource(Fabric fabric, const topo::Topology& topo) : fabric_(std::move(fabric)), topo_(topo) {}

  Fabric fabric_;
  topo::Topology topo_;
  std::vector<std::string> frames_;
  std::thread thread_;
};

/// Whether a file begins as one does; a scenario never does.
bool is_recording(const std::string& path);

/// Reads what to_json(Fabric) wrote.
Result<Fabric> parse_fabric(std::string_view json);

}  // namespace mrc::view
