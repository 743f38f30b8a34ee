// The sections of a scenario file, each read by one function into its part of the Scenario.
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "scenario/table_reader.h"

namespace mrc::scenario {

void read_topology(TableReader& r, Scenario& s);
void read_queues(TableReader& r, Scenario& s);
void read_transport(TableReader& r, Scenario& s);
void read_job(TableReader& r, std::size_t number, Scenario& s);
void read_fault(TableReader& r, Scenario& s);
void read_random_faults(TableReader& r, Scenario& s);
void read_phase(TableReader& r, Scenario& s);
void read_limits(TableReader& r, Scenario& s);
void read_output(TableReader& r, Scenario& s);
void read_published(TableReader& r, Scenario& s);
/// Left out when its `where` does not hold in `root`.
void read_expectation(TableReader& r, const toml::table& root, Scenario& s);

/// A path in a scenario is relative to the scenario's own directory.
std::string beside(const Scenario& s, const std::string& path);

}  // namespace mrc::scenario
