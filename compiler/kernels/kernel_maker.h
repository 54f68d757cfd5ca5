// Kernels of groups: scheduled, lowered and legalized. Groups of equal workload
// share one; fused groups only if the plan wishes the same of them, too.
//
// A group has several generators of schedules
// (sketch/rules/default_schedule.h): the kernel is the first one's whose
// schedule replays, lowers and is legal, so that every group that can be
// expressed gets one. A fused group has a single generator, "fused": without a
// kernel it is taken apart. On targets with threads the first generator is
// "simt" (sketch/simt), with the plan's wishes; for a group that is not fused,
// the kernels of one thread a task come behind it. A source of schedules (a
// person's decisions, records) comes before the rules.
#ifndef TILEWRIGHT_COMPILER_KERNELS_KERNEL_MAKER_H_
#define TILEWRIGHT_COMPILER_KERNELS_KERNEL_MAKER_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/schedule_source.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/plan/kernel_key.h"

namespace tilewright {

// One distinct kernel, through every representation.
struct CompiledKernel {
  GroupWorkload workload;  // of the first group that needs it
  sketch::Schedule schedule;
  DecisionTable decisions;  // of its generator, for that schedule
  std::string generator;    // that made the schedule
  // The source of its schedule: "rules", or as the source of schedules says.
  std::string source = "rules";
  // For each of the generators before it, why it was refused: "contraction:
  // ...", with the code of what refused it.
  std::vector<absl::Status> refused;
  kernel_ir::Kernel tile;
  kernel_ir::ScalarKernel scalar;
  std::vector<Layout> arg_layouts;    // by argument
  std::vector<TensorId> arg_tensors;  // by argument: tensor id of the workload
  std::vector<int> arg_winograd;      // by argument: Buffer::winograd
  backends::KernelReport report;
};

// The generators of a group, in the order in which they are tried.
std::vector<sketch::Generator> GeneratorsOf(const GroupWorkload& group,
                                            const DeviceSpec& spec);

class KernelMaker {
 public:
  // Says why the generator of that name shall not be used; for tests of what
  // happens when one fails. Several threads may ask at the same time.
  using Admit = std::function<absl::Status(const std::string& generator)>;

  // `codegen` and `source` must outlive it. Without `admit` all generators are
  // used; without `source` the rules decide.
  explicit KernelMaker(const backends::Codegen& codegen, Admit admit = nullptr,
                       ScheduleSource* source = nullptr)
      : codegen_(codegen), admit_(std::move(admit)), source_(source) {}

  // The kernel of this workload, without name and report; made once per Key.
  // If all generators are refused, the error of the first. Valid as long as the
  // maker is. Without a source, several threads may call it at the same time.
  const absl::StatusOr<CompiledKernel>& Make(const GroupWorkload& workload);
  // The kernel of a later generator than the one that Make used, whose kernel
  // failed in the end: `why`, e.g. Emit's error. Make gives it, too, from now
  // on.
  const absl::StatusOr<CompiledKernel>& MakeAnother(
      const GroupWorkload& workload, const absl::Status& why);

  // Equal for workloads that share a kernel: its key, and of a fused group what
  // the plan wishes, as text.
  using Key = std::pair<KernelKey, std::string>;
  static Key KeyOf(const GroupWorkload& workload);

 private:
  // The attempts for one workload.
  struct Made {
    std::once_flag once;  // whoever asks first makes it, others wait
    absl::StatusOr<CompiledKernel> kernel = absl::UnknownError("not made yet");
    bool asked_source = false;
    size_t generators = 0;  // that were tried
    std::vector<absl::Status> refused;
    absl::Status error;  // of the first that was refused
  };

  // By what was not tried yet: the source of schedules, then the generators.
  void MakeNext(const GroupWorkload& group, Made& made) const;
  // The kernel by the source's schedule for the workload; nullopt if that is
  // nothing, or was refused. An error if somebody wants it and has to know.
  absl::StatusOr<std::optional<CompiledKernel>> FromSource(
      const GroupWorkload& group, std::vector<absl::Status>& refused) const;

  const backends::Codegen& codegen_;
  const Admit admit_;
  ScheduleSource* const source_;
  std::mutex mutex_;  // guards the map, not what is in it
  std::map<Key, Made> made_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_KERNEL_MAKER_H_
