// A report of a run for people and programs: a table, JSON, Markdown, HTML.
#pragma once

#include <map>
#include <string>

#include "conform/run.h"

namespace mrc::conform {

/// Name of the capture file of each check that failed.
using Captures = std::map<std::string, std::string, std::less<>>;

/// One line of the table, as checks end.
std::string row(const CheckResult& result, bool colour);
/// "59 checks: 57 passed, 1 failed, 1 skipped"
std::string closing(const Report& report);
std::string to_json(const Report& report, const Captures& captures);
std::string to_markdown(const Report& report, const Captures& captures);
std::string to_html(const Report& report, const Captures& captures);

}  // namespace mrc::conform
