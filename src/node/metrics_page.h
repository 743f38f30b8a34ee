// Metrics over HTTP, for mrcd and for any process that is asked to: which paths there are, in which form they
// answer, and where to listen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/server.h"
#include "node/exposition.h"

namespace mrc::node {

struct MetricsAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};
/// "9464", "127.0.0.1:9464", "[::1]:9464". Who names no address means this machine alone.
Result<MetricsAddress> parse_metrics_address(const std::string& text);

class MetricsPage final : public http::Handler {
 public:
  using Source = std::function<std::string(TextForm)>;

  void add(std::string path, Source source) { pages_.push_back({std::move(path), std::move(source)}); }
  /// Serves from here on; the page outlives the server.
  Result<std::unique_ptr<http::Server>> listen(const std::string& where);

  http::Response handle(const http::Request& request) override;

 private:
  struct Page {
    std::string path;
    Source source;
  };
  http::Response overview() const;

  std::vector<Page> pages_;
  bool loopback_ = false;
};

}  // namespace mrc::node
