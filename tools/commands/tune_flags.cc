#include "tools/commands/tune_flags.h"

namespace tilewright::tools {

TuneOptions TuneOptionsFrom(const CommandLine& line) {
  TuneOptions options;
  options.policy = line.Get("policy", options.policy);
  options.optimizer = line.Get("optimizer", options.optimizer);
  options.cost_model = line.Get("cost-model");
  options.scheduler = line.Get("scheduler", options.scheduler);
  options.crossover = line.Has("crossover");
  options.keep_bits = line.Has("keep-bits");
  options.trials = line.GetInt("trials", 0);
  options.seconds = line.GetDouble("time", options.seconds);
  options.seed = static_cast<uint64_t>(line.GetInt("seed", 0));
  return options;
}

}  // namespace tilewright::tools
