#include "bench/decisions/kernel_count.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/fingerprint.h"
#include "bench/decisions/kernel_of.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {
namespace {

absl::StatusOr<Fingerprint> KernelOfOrRefusal(
    const sketch::Workload& workload,
    const absl::StatusOr<sketch::Schedule>& schedule,
    const backends::Codegen& codegen) {
  if (schedule.ok()) return KernelOf(workload, *schedule, codegen);
  return absl::Status(schedule.status().code(),
                      absl::StrCat("generator: ", schedule.status().message()));
}

std::string WithoutNumbers(absl::string_view text) {
  std::string without;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      without.push_back(c);
    } else if (without.empty() || without.back() != '#') {
      without.push_back('#');
    }
  }
  return without;
}

}  // namespace

KernelCount CountKernels(const sketch::Workload& workload,
                         const sketch::Generator& generator,
                         const backends::Codegen& codegen, int draws,
                         uint64_t seed) {
  KernelCount count;
  count.draws = draws;
  std::set<Fingerprint> distinct;
  for (int i = 0; i < draws; ++i) {
    RandomPolicy policy(seed + static_cast<uint64_t>(i));
    Decider decider(policy);
    const absl::StatusOr<sketch::Schedule> schedule =
        sketch::Generate(generator, workload, codegen.spec(), decider);
    count.tables += EstimateTables(decider.decisions());
    const absl::StatusOr<Fingerprint> kernel =
        KernelOfOrRefusal(workload, schedule, codegen);
    if (kernel.ok()) {
      ++count.kernels;
      distinct.insert(*kernel);
    } else {
      ++count.refusals[WithoutNumbers(kernel.status().message())];
    }
  }
  if (draws > 0) count.tables /= draws;
  count.distinct = static_cast<int>(distinct.size());
  return count;
}

std::string ToString(const KernelCount& count) {
  std::string text = absl::StrFormat(
      "%.3g tables; of %d drawn %d became kernels, %d of them different: about "
      "%.3g kernels\n",
      count.tables, count.draws, count.kernels, count.distinct,
      count.Kernels());
  std::vector<std::pair<std::string, int>> refusals(count.refusals.begin(),
                                                    count.refusals.end());
  std::stable_sort(
      refusals.begin(), refusals.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, times] : refusals)
    absl::StrAppend(&text, "  ", times, " x ", reason, "\n");
  return text;
}

}  // namespace tilewright::bench
