#include "bench/mutate/model_mutants.h"

#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/ort/test_data.h"
#include "sketch/trace/workload.h"
#include "tilegraph/ir/physical.h"

namespace tilewright::bench {
namespace {

// An output of one launch: where it lies and how.
struct LaunchOutput {
  std::string name;  // in the kernel's workload
  Place place;
  DType dtype;
  Layout layout;
};

// Outputs follow all other arguments, ascending.
absl::StatusOr<std::vector<LaunchOutput>> OutputsOf(const Program& program,
                                                    const Launch& launch) {
  const KernelInfo& info = program.kernels(launch.kernel());
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(info.workload()));
  const std::set<TensorId> ids(workload.graph.outputs().begin(),
                               workload.graph.outputs().end());
  int arg = launch.args_size() - static_cast<int>(ids.size());
  std::vector<LaunchOutput> outputs;
  for (const TensorId id : ids) {
    const Tensor& tensor = workload.graph.tensor(id);
    outputs.push_back(
        {tensor.name, launch.args(arg++), tensor.dtype, workload.LayoutOf(id)});
  }
  return outputs;
}

std::string ReadLogical(const LaunchOutput& output, const char* data) {
  const int64_t size = SizeBytes(output.dtype);
  std::string values;
  PhysicalOffsets(output.layout).ForEach([&](int64_t, int64_t offset) {
    values.append(data + offset * size, static_cast<size_t>(size));
  });
  return values;
}

void WriteLogical(const LaunchOutput& output, const std::string& values,
                  char* data) {
  const int64_t size = SizeBytes(output.dtype);
  PhysicalOffsets(output.layout).ForEach([&](int64_t position, int64_t offset) {
    std::memcpy(data + offset * size, values.data() + position * size,
                static_cast<size_t>(size));
  });
}

// Channel c takes what channel c - 1 had.
std::string Rotate(const LaunchOutput& output, size_t channel,
                   const std::string& values) {
  const std::vector<int64_t>& shape = output.layout.shape();
  int64_t inner = SizeBytes(output.dtype);
  for (size_t d = channel + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t group = inner * shape[channel];
  std::string rotated = values;
  for (int64_t begin = 0; begin < static_cast<int64_t>(values.size());
       begin += group) {
    std::memcpy(&rotated[begin + inner], &values[begin],
                static_cast<size_t>(group - inner));
    std::memcpy(&rotated[begin], &values[begin + group - inner],
                static_cast<size_t>(inner));
  }
  return rotated;
}

std::string Harmed(const LaunchOutput& output, Harm harm,
                   const std::string& values) {
  const size_t rank = output.layout.shape().size();
  if (harm == Harm::kZero) return std::string(values.size(), '\0');
  if (rank == 0) return values;
  const std::string rotated = Rotate(output, rank - 1, values);
  return rank >= 3 ? Rotate(output, 1, rotated) : rotated;
}

absl::Status VerifyMutant(OwnModel& model, const LaunchOutput& output,
                          const std::vector<OrtTensor>& references,
                          double error_limit, ModelMutant& mutant) {
  bool changed = false;
  TW_RETURN_IF_ERROR(model.RunSteps([&](int step) {
    if (step != mutant.step) return;
    char* const data = model.session().Address(output.place);
    const std::string before = ReadLogical(output, data);
    const std::string after = Harmed(output, mutant.harm, before);
    changed = after != before;
    WriteLogical(output, after, data);
  }));
  TW_ASSIGN_OR_RETURN(mutant.error, Error(model.Outputs(), references));
  mutant.rejected = mutant.error > error_limit;
  if (!changed) mutant.excuse = "the harm changes no element of this tensor";
  return absl::OkStatus();
}

}  // namespace

const char* Name(Harm harm) {
  switch (harm) {
    case Harm::kNone:
      return "not harmed";
    case Harm::kZero:
      return "zeroed";
    case Harm::kRotateChannels:
      return "channels rotated";
  }
  return "";
}

absl::StatusOr<std::vector<ModelMutant>> VerifyMutants(
    OwnModel& model, const std::vector<OrtTensor>& references,
    double error_limit) {
  TW_RETURN_IF_ERROR(model.RunSteps([](int) {}));
  TW_ASSIGN_OR_RETURN(const double error, Error(model.Outputs(), references));
  if (error > error_limit)
    return absl::FailedPreconditionError(absl::StrCat(
        "the unharmed model errs by ", error, ", the limit is ", error_limit));
  std::vector<ModelMutant> mutants;
  for (int step = 0; step < model.program().steps_size(); ++step) {
    if (!model.program().steps(step).has_launch()) continue;
    const Launch& launch = model.program().steps(step).launch();
    TW_ASSIGN_OR_RETURN(const std::vector<LaunchOutput> outputs,
                        OutputsOf(model.program(), launch));
    for (const LaunchOutput& output : outputs) {
      for (const Harm harm : {Harm::kZero, Harm::kRotateChannels}) {
        ModelMutant mutant;
        mutant.step = step;
        mutant.label = model.program().kernels(launch.kernel()).label();
        if (outputs.size() > 1)
          absl::StrAppend(&mutant.label, " (", output.name, ")");
        mutant.harm = harm;
        TW_RETURN_IF_ERROR(
            VerifyMutant(model, output, references, error_limit, mutant));
        mutants.push_back(std::move(mutant));
      }
    }
  }
  return mutants;
}

}  // namespace tilewright::bench
