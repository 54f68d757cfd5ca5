// How `tune` searches, as its flags say.
#ifndef TILEWRIGHT_TOOLS_TUNE_TUNE_OPTIONS_H_
#define TILEWRIGHT_TOOLS_TUNE_TUNE_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <string>

namespace tilewright::tools {

struct TuneOptions {
  // Which candidates there are beside the rules' own: "rules", whatever the
  // generator of a kernel's family can decide; "tilegraph", of these the tiles
  // and tasks; "template" and "sketch", what those generators write.
  std::string policy = "rules";
  std::string optimizer = "evolution";
  std::string cost_model;  // empty: the one that suits the optimizer
  std::string scheduler = "gradient";
  bool crossover = false;
  bool keep_bits = false;  // only candidates that compute the rules' bits
  int64_t trials = 0;      // of all tasks together; 0: 64 for each
  // Wall time of searching; comparing winners comes on top.
  double seconds = std::numeric_limits<double>::infinity();
  uint64_t seed = 0;
};

// Identifies a run: with an equal seed of records it is repeated, and goes on
// where it was.
uint64_t SeedOfRun(const TuneOptions& options);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_TUNE_OPTIONS_H_
