#include "wire/verdict.h"

#include <array>

namespace mrc {
namespace {

struct Entry {
  std::string_view name, text;
};
constexpr std::array<Entry, kVerdictCount> kEntries = {{
#define MRC_VERDICT_ENTRY(name, text) {#name, text},
    MRC_VERDICTS(MRC_VERDICT_ENTRY)
#undef MRC_VERDICT_ENTRY
}};

}  // namespace

std::string_view name(Verdict v) { return kEntries[static_cast<int>(v)].name; }
std::string_view explain(Verdict v) { return kEntries[static_cast<int>(v)].text; }

}  // namespace mrc
