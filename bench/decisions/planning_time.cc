#include "bench/decisions/planning_time.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "measure/stats/median.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/tree/block_tree_verifier.h"

namespace tilewright::bench {
namespace {

std::string Row(const std::string& name,
                const std::vector<const PlanningTime*>& times) {
  PlanningTime sum;
  std::vector<double> all_ns;
  const PlanningTime* slowest = times.front();
  for (const PlanningTime* time : times) {
    sum.generate_ns += time->generate_ns;
    sum.replay_ns += time->replay_ns;
    sum.verify_ns += time->verify_ns;
    all_ns.push_back(time->all_ns());
    if (time->all_ns() > slowest->all_ns()) slowest = time;
  }
  const double per_ms = 1e-6 / static_cast<double>(times.size());
  return absl::StrFormat(
      "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %s |\n", name,
      times.size(), sum.all_ns() * per_ms, measure::Median(all_ns) * 1e-6,
      slowest->all_ns() * 1e-6, sum.generate_ns * per_ms,
      sum.replay_ns * per_ms, sum.verify_ns * per_ms, slowest->workload);
}

}  // namespace

absl::StatusOr<PlanningTime> TimePlanning(const std::string& name,
                                          const GroupWorkload& workload,
                                          const DeviceSpec& spec, int runs,
                                          Clock* clock) {
  TW_CHECK_GE(runs, 1);
  const sketch::Generator generator =
      workload.wishes ? sketch::FusedGenerator(*workload.wishes)
                      : sketch::Generators(workload.workload).front();
  std::vector<double> generate_ns, replay_ns, verify_ns;
  for (int run = 0; run < runs; ++run) {
    const int64_t start_ns = clock->ThreadCpuNs();
    TW_ASSIGN_OR_RETURN(
        const sketch::Schedule schedule,
        sketch::GeneratePreferred(generator, workload.workload, spec));
    const int64_t generated_ns = clock->ThreadCpuNs();
    TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                        sketch::Replay(workload.workload, schedule));
    const int64_t replayed_ns = clock->ThreadCpuNs();
    TW_RETURN_IF_ERROR(sketch::VerifyBlockTree(tree));
    const int64_t verified_ns = clock->ThreadCpuNs();
    generate_ns.push_back(static_cast<double>(generated_ns - start_ns));
    replay_ns.push_back(static_cast<double>(replayed_ns - generated_ns));
    verify_ns.push_back(static_cast<double>(verified_ns - replayed_ns));
  }
  return PlanningTime{name, generator.name,
                      measure::Median(std::move(generate_ns)),
                      measure::Median(std::move(replay_ns)),
                      measure::Median(std::move(verify_ns))};
}

std::string PlanningTable(const std::vector<PlanningTime>& times) {
  TW_CHECK(!times.empty());
  std::map<std::string, std::vector<const PlanningTime*>> by_generator;
  std::vector<const PlanningTime*> all;
  for (const PlanningTime& time : times) {
    by_generator[time.generator].push_back(&time);
    all.push_back(&time);
  }
  std::string text =
      "| generator | workloads | average ms | median | slowest | generator | "
      "replay | verifier | the slowest |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, its] : by_generator) text += Row(name, its);
  return text + Row("all", all);
}

}  // namespace tilewright::bench
