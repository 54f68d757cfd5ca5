#include "tools/tune/tune_options.h"

#include "base/fingerprint.h"

namespace tilewright::tools {

uint64_t SeedOfRun(const TuneOptions& options) {
  Fingerprinter run;
  run.AddInt(options.seed).AddString(options.policy);
  run.AddString(options.optimizer).AddString(options.cost_model);
  run.AddString(options.scheduler);
  run.AddInt(static_cast<uint64_t>(options.trials));
  run.AddInt((options.crossover ? 1 : 0) + (options.keep_bits ? 2 : 0));
  return run.Finish().low;
}

}  // namespace tilewright::tools
