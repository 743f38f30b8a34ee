// The page's files, compiled in. scripts/page makes the table from web/ when npm is there.
#pragma once

#include <span>
#include <string_view>

namespace mrc::web {

struct Asset {
  std::string_view path;  // "/", "/assets/index-1a2b.js"
  std::string_view type;
  std::string_view bytes;
};

/// Empty when the page was not built.
std::span<const Asset> assets();
/// Why it was not.
std::string_view why_not_built();

}  // namespace mrc::web
