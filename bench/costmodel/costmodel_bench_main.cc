// How long a candidate's features take, and learning from them.
//
//   costmodel_bench [--target=cpu_x86_64_v4] [--draws=200] [--seed=1]
//                   [--learn=1000] FILE...
//
// A file holds a workload in text form. The target is a device spec's name.
// CPU times of one thread.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "backends/spec/load_spec.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/costmodel/feature_times.h"
#include "bench/costmodel/model_times.h"
#include "costmodel/cost_model.h"
#include "costmodel/feature_matrix.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

constexpr char kUsage[] =
    "costmodel_bench [--target=NAME] [--draws=N] [--seed=N] [--learn=N] "
    "FILE...";

struct Flags {
  std::string target = "cpu_x86_64_v4";
  int draws = 200;
  int64_t seed = 1;
  int learn = 1000;
};

// `size` candidates, spread over all.
costmodel::CandidateFeatures Select(
    const costmodel::CandidateFeatures& candidates, int size) {
  costmodel::CandidateFeatures selected{
      costmodel::FeatureMatrix(candidates.rows.columns())};
  int row = 0;
  for (int i = 0; i < candidates.size(); ++i) {
    const int end = row + candidates.row_count(i);
    const bool wanted = int64_t{i} * size / candidates.size() !=
                        (int64_t{i} + 1) * size / candidates.size();
    if (wanted) selected.row_counts.push_back(end - row);
    for (; row < end; ++row) {
      if (wanted) selected.rows.AddRow(candidates.rows.row(row));
    }
  }
  return selected;
}

absl::Status Run(const std::vector<std::string>& files, const Flags& flags) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(flags.target));
  costmodel::CandidateFeatures candidates{costmodel::FeatureMatrix(164)};
  FeatureTimes all;
  for (const std::string& file : files) {
    TW_ASSIGN_OR_RETURN(const std::string text,
                        ReadFile(file, int64_t{1} << 20));
    TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                        sketch::ParseWorkload(text));
    const FeatureTimes times =
        TimeFeatures(workload, spec, flags.draws,
                     static_cast<uint64_t>(flags.seed), candidates);
    const std::vector<std::string> parts = absl::StrSplit(file, '/');
    std::printf("%-34s %s\n", parts.back().c_str(), times.ToString().c_str());
    if (times.refused > 0) {
      std::printf("    refused: %s\n", times.first_refusal.c_str());
    }
    all.Add(times);
  }
  if (candidates.size() == 0) {
    return absl::InvalidArgumentError("no candidate was accepted");
  }
  std::printf("%-34s %s\n", "all", all.ToString().c_str());
  const costmodel::CandidateFeatures learned = Select(candidates, flags.learn);
  std::printf("\n%d candidates with %d rows, ms:\n", learned.size(),
              learned.rows.rows());
  TW_ASSIGN_OR_RETURN(const std::vector<ModelTimes> models,
                      TimeModels(learned));
  for (const ModelTimes& model : models) {
    std::printf("  %-52s fit %8.1f, predict %6.1f\n", model.model.c_str(),
                model.fit_ms, model.predict_ms);
  }
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  Flags flags;
  OptionParser parser;
  parser.Text("target", &flags.target);
  parser.Number("draws", &flags.draws, 1);
  parser.Number("seed", &flags.seed, 0);
  parser.Number("learn", &flags.learn, 1);
  return RunOnArguments(
      "costmodel_bench", kUsage, parser, arguments,
      [&](const std::vector<std::string>& files) { return Run(files, flags); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
