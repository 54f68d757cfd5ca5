// The command line of bench/compare.
#ifndef TILEWRIGHT_BENCH_COMPARE_COMPARE_FLAGS_H_
#define TILEWRIGHT_BENCH_COMPARE_COMPARE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/compare/huge_pages.h"
#include "bench/options/target_class.h"
#include "tilegraph/plan/plan.h"

namespace tilewright::bench {

struct CompareFlags {
  std::vector<std::string>
      folders;      // each with a model.onnx and a test_data_set_0
  std::string ort;  // empty: no peer
  std::vector<int> threads = {1, 2};
  double seconds = 3;  // measured for each side and thread count, at least
  bool verify = false;  // print errors, exit 1 above the limit
  bool json = false;
  // As `tilewright compile` has them.
  PlanOptions::Connect connect = PlanOptions::Connect::kTileGraph;
  std::vector<std::string> allow;  // less exact kernels
  HugePages huge_pages = HugePages::kNone;
  TargetClass target;  // of ours, and of the peak; the peer is not limited
};

// InvalidArgument says which flag is wrong, and how. `environment_ort`:
// $TILEWRIGHT_ORT or null. Relative paths are made relative to
// `working_directory` unless that is null.
absl::StatusOr<CompareFlags> ParseCompareFlags(
    const std::vector<std::string>& arguments, const char* environment_ort,
    const char* working_directory);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COMPARE_COMPARE_FLAGS_H_
