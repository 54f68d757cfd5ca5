#include "backends/emulator/kernel_jobs.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/cts/compare.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/emulator/run_kernel.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::emulator {
namespace {

using kernel_ir::Mutant;
using kernel_ir::ScalarKernel;

// Says what a mutant of a kernel did that the kernel itself does not.
std::string Verdict(const Job& job, const Result& result, const Result& right) {
  if (!result.ok()) return absl::StatusCodeToString(result.status().code());
  return Difference(job.kernel, result, right).empty() ? "same" : "differs";
}

// "last step skipped", of "instruction 17: last step skipped".
std::string KindOf(const std::string& name) {
  const size_t colon = name.find(": ");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::vector<Result> EmulateOn(std::vector<Job> jobs,
                              const EmulatorCodegenOptions& options,
                              const EmulatorDeviceOptions& device_options) {
  absl::StatusOr<DeviceSpec> spec = LoadSpec("h100");
  TW_CHECK_OK(spec);
  spec->mutable_unit()->set_scratchpad_bytes_per_block(64 << 20);
  std::vector<ScalarKernel> kernels;
  for (Job& job : jobs) {
    job.kernel.name = absl::StrCat(job.kernel.name, "_", kernels.size());
    kernels.push_back(job.kernel);
  }
  const auto device = CreateEmulatorDevice(*spec, device_options);
  const auto module = CreateEmulatorCodegen(*spec, options)->Emit(kernels);
  TW_CHECK_OK(module);
  const auto loaded = device->LoadModule(module->bytes, module->target);
  TW_CHECK_OK(loaded);
  std::vector<Result> results;
  for (const Job& job : jobs)
    results.push_back(RunKernel(*device, **loaded, job.kernel, job.args));
  return results;
}

}  // namespace

EmulatorCodegenOptions Options(gpu_text::Dialect dialect, bool checked) {
  EmulatorCodegenOptions options;
  options.dialect = dialect;
  options.checked = checked;
  return options;
}

Result Interpret(const Job& job) {
  std::vector<std::string> args = job.args;
  TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
      job.kernel, absl::MakeSpan(args), 0, job.kernel.num_tasks));
  return args;
}

std::vector<Result> Emulate(std::vector<Job> jobs,
                            const EmulatorCodegenOptions& options) {
  return EmulateOn(std::move(jobs), options, {});
}

std::vector<KernelCounts> Count(std::vector<Job> jobs,
                                EmulatorCodegenOptions options) {
  options.counted = true;
  std::vector<KernelCounts> counts;
  EmulatorDeviceOptions device;
  device.on_counts = [&](const KernelCounts& of) { counts.push_back(of); };
  for (const Result& result : EmulateOn(std::move(jobs), options, device))
    TW_CHECK_OK(result);
  return counts;
}

std::string Difference(const ScalarKernel& kernel, const Result& actual,
                       const Result& expected) {
  if (!actual.ok()) return std::string(actual.status().message());
  for (size_t i = 0; i < actual->size(); ++i) {
    const std::string difference = cts::FirstDifference(
        kernel.buffers[i].dtype, (*actual)[i], (*expected)[i]);
    if (!difference.empty())
      return absl::StrCat(kernel.buffers[i].name, ": ", difference);
  }
  return "";
}

std::string MutantTally::ToString() const {
  std::string text;
  for (const auto& [kind, tally] : kinds)
    absl::StrAppend(&text, kind, ": ", tally.caught, " of ", tally.all, "\n");
  absl::StrAppend(&text, mutants, " mutants, ", races, " races, ", unmade,
                  " bad accesses not made; same results:\n");
  for (const std::string& name : missed)
    absl::StrAppend(&text, "  ", name, "\n");
  return text;
}

void AddMutants(const std::vector<Job>& jobs, int count, uint64_t seed,
                MutantTally& tally) {
  std::vector<Job> mutants;
  std::vector<std::string> names;
  std::vector<Result> right;
  for (const Job& job : jobs) {
    const Result result = Interpret(job);
    TW_CHECK_OK(result);
    for (Mutant& m : kernel_ir::Mutants(job.kernel, count, seed)) {
      mutants.push_back({std::move(m.kernel), job.args});
      names.push_back(std::move(m.name));
      right.push_back(result);
    }
  }
  const std::vector<Result> results =
      Emulate(mutants, Options(gpu_text::Dialect::kCuda, true));
  for (size_t i = 0; i < mutants.size(); ++i) {
    const Result interpreted = Interpret(mutants[i]);
    const std::string expected = Verdict(mutants[i], interpreted, right[i]),
                      actual = Verdict(mutants[i], results[i], right[i]);
    const bool bad_read = absl::IsOutOfRange(interpreted.status()) ||
                          absl::IsFailedPrecondition(interpreted.status());
    if (bad_read && results[i].ok()) {
      ++tally.unmade;
    } else if (actual != expected) {
      tally.disagreements.push_back(absl::StrCat(
          names[i], ": ", actual, ", not ", expected, "\n",
          interpreted.status().ToString(), "\n", results[i].status().ToString(),
          "\n", mutants[i].kernel.ToString()));
    }
    MutantTally::Kind& kind = tally.kinds[KindOf(names[i])];
    ++kind.all;
    kind.caught += actual != "same";
    tally.races += actual == "ABORTED";
    if (actual == "same")
      tally.missed.push_back(
          absl::StrCat(mutants[i].kernel.name, " ", names[i]));
  }
  tally.mutants += static_cast<int64_t>(mutants.size());
}

}  // namespace tilewright::emulator
