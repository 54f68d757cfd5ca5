#include "tools/record_groups.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "runtime/format/program.pb.h"
#include "tools/profile/kernel_summary.h"

namespace tilewright::tools {

using measure::Measurement;
using measure::Record;

absl::Status CollectRecordGroups(measure::Store& store, std::string_view prefix,
                                 std::vector<RecordGroup>& groups) {
  std::map<std::pair<std::string, std::string>, size_t> known;
  const absl::Status status = store.ForEach({}, [&](const Record& record) {
    if (!absl::StartsWith(record.workload().fingerprint(), ToAbsl(prefix))) {
      return absl::OkStatus();
    }
    const auto [place, is_new] = known.try_emplace(
        {record.workload().text(), record.device().structure_fingerprint()},
        groups.size());
    if (is_new) groups.push_back({record.workload(), record.device()});
    RecordGroup& group = groups[place->second];
    ++group.records;
    group.verified += record.measurement().verification().verified();
    group.failed += record.measurement().outcome() != Measurement::OK;
    return absl::OkStatus();
  });
  for (RecordGroup& group : groups) {
    if (group.verified == 0) continue;
    absl::StatusOr<Record> best =
        store.Best(group.workload, group.device.structure_fingerprint());
    if (best.ok()) {
      group.best = *std::move(best);
    } else if (status.ok()) {
      return best.status();
    }
  }
  return status;
}

std::string DescribeWorkload(std::string_view text) {
  KernelInfo kernel;
  kernel.set_workload(std::string(text));
  const std::string operators = Operators(kernel);
  return absl::StrCat(operators, operators.empty() ? "" : " ",
                      ShapeAndSchedule(kernel));
}

std::string DurationText(double ns) {
  if (ns < 1e3) return absl::StrFormat("%.3g ns", ns);
  if (ns < 1e6) return absl::StrFormat("%.3g us", ns * 1e-3);
  if (ns < 1e9) return absl::StrFormat("%.3g ms", ns * 1e-6);
  return absl::StrFormat("%.4g s", ns * 1e-9);
}

}  // namespace tilewright::tools
