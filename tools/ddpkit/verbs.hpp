#pragma once

namespace CLI {
class App;
}

// One function per verb of the command. Each adds its own options and does its work when the command line has been read.

namespace ddpkit::tool {

/// `ddpkit config`: the merged configuration with the origin of every value.
void add_config_verb(CLI::App& app);

/// `ddpkit plan`: the ways to make a global batch, best first.
void add_plan_verb(CLI::App& app);

/// `ddpkit schema`: JSON Schema of run files, or the options page.
void add_schema_verb(CLI::App& app);

/// `ddpkit simulate`: a recorded step on a cluster that is only described.
void add_simulate_verb(CLI::App& app);

/// `ddpkit verify`: short runs of a program, judged in four dimensions.
void add_verify_verb(CLI::App& app);

}  // namespace ddpkit::tool
