#include "tools/gpu/conformance_counts.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "backends/cts/conformance.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

class Counting : public testing::EmptyTestEventListener {
 public:
  explicit Counting(ConformanceCounts* counts) : counts_(counts) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    std::fprintf(stderr, "%s: %s, %lld ms\n", test.name(),
                 result.Passed()    ? "ok"
                 : result.Skipped() ? "skipped"
                                    : "FAILED",
                 static_cast<long long>(result.elapsed_time()));
    if (result.Passed()) {
      ++counts_->passed;
      return;
    }
    const std::string text = absl::StrCat(
        test.name(), ": ",
        result.total_part_count() == 0 ? ""
                                       : result.GetTestPartResult(0).summary());
    if (result.Skipped()) {
      counts_->skipped.push_back(text);
    } else {
      ++counts_->failed;
      counts_->failures.push_back(text);
    }
  }

 private:
  ConformanceCounts* const counts_;
};

}  // namespace

ConformanceCounts RunConformance(const cts::Backend& backend) {
  ConformanceCounts counts;
  int argc = 1;
  char name[] = "conformance";
  char* argv[] = {name, nullptr};
  testing::InitGoogleTest(&argc, argv);
  testing::TestEventListeners& listeners =
      testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Counting(&counts));
  cts::RegisterConformanceTests(backend);
  const int status = RUN_ALL_TESTS();
  // Something outside of all tests.
  if (status != 0 && counts.failed == 0) ++counts.failed;
  return counts;
}

std::string ToString(const ConformanceCounts& counts) {
  std::string text =
      absl::StrCat(counts.passed, " cases pass, ", counts.failed, " fail, ",
                   counts.skipped.size(), " are skipped\n");
  for (const std::string& skipped : counts.skipped)
    absl::StrAppend(&text, "- skipped: ", skipped, "\n");
  for (const std::string& failure : counts.failures)
    absl::StrAppend(&text, "- FAILED: ", failure, "\n");
  return text;
}

}  // namespace tilewright::cuda
