#include "fabric/fate.h"

#include <array>

namespace mrc::fabric {
namespace {

struct Entry {
  std::string_view name, text;
};
constexpr std::array<Entry, kFateCount> kEntries = {{
#define MRC_FATE_ENTRY(name, text) {#name, text},
    MRC_FATES(MRC_FATE_ENTRY)
#undef MRC_FATE_ENTRY
}};

}  // namespace

std::string_view name(Fate f) { return kEntries[static_cast<int>(f)].name; }
std::string_view explain(Fate f) { return kEntries[static_cast<int>(f)].text; }

}  // namespace mrc::fabric
