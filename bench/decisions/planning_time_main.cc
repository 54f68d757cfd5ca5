// How long planning takes: for every distinct workload of models, CPU time of
// its generator, of replaying the schedule and of verifying the tree.
//
//   planning_time_bench [--target=CLASS] [--runs=5] [--fuse-everything]
//                       [--each] FOLDER|FILE.onnx...
//
// MODEL may be a folder: all models below it are timed. Groups are fused as
// --connect=tilegraph does, or whatever has a kernel. Prints a table
// (planning_time.h); with --each a line per workload before it. To see where
// the time goes:
//
//   perf record -g planning_time_bench --runs=200 FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/decisions/planning_time.h"
#include "bench/model/own_model.h"
#include "compiler/compile.h"
#include "compiler/kernels/kernel_maker.h"
#include "frontends/onnx/import_model.h"

namespace tilewright::bench {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string cpu_class;
  int runs = 5;
  bool fuse_everything = false;
  bool each = false;
};

std::vector<std::string> ModelsOf(const std::vector<std::string>& arguments) {
  std::vector<std::string> models;
  for (const std::string& argument : arguments) {
    if (!fs::is_directory(argument)) {
      models.push_back(argument);
      continue;
    }
    std::vector<std::string> below;
    for (const auto& entry : fs::recursive_directory_iterator(argument)) {
      if (entry.path().extension() == ".onnx")
        below.push_back(entry.path().string());
    }
    std::sort(below.begin(), below.end());
    models.insert(models.end(), below.begin(), below.end());
  }
  return models;
}

// Adds the times of what no model before had; `known` are KernelMaker's keys.
absl::Status TimeModel(const std::string& path, const DeviceSpec& spec,
                       const Flags& flags, std::set<KernelMaker::Key>& known,
                       std::vector<PlanningTime>& times) {
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  CompileOptions options;
  if (flags.fuse_everything) options = FuseEverything();
  options.plan.connect = PlanOptions::Connect::kTileGraph;
  TW_ASSIGN_OR_RETURN(const ImportedModel imported, ImportModel(path));
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(imported, *codegen, options));
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    const GroupWorkload& workload = compiled.kernels[i].workload;
    if (!known.insert(KernelMaker::KeyOf(workload)).second) continue;
    const std::string name =
        absl::StrCat(fs::path(path).parent_path().filename().string(), " ",
                     compiled.kernels[i].scalar.name);
    absl::StatusOr<PlanningTime> time =
        TimePlanning(name, workload, spec, flags.runs, RealClock());
    if (!time.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(),
                   std::string(time.status().message()).c_str());
      continue;
    }
    times.push_back(*std::move(time));
  }
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments,
                 const Flags& flags) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec,
                      flags.cpu_class.empty()
                          ? HostSpec()
                          : CpuSpec(flags.cpu_class, QueryHostStructure()));
  std::set<KernelMaker::Key> known;
  std::vector<PlanningTime> times;
  for (const std::string& path : ModelsOf(arguments)) {
    const absl::Status status = TimeModel(path, spec, flags, known, times);
    if (!status.ok())
      return absl::Status(status.code(),
                          absl::StrCat(path, ": ", status.message()));
  }
  if (times.empty()) return absl::NotFoundError("no model was given");
  if (flags.each) {
    for (const PlanningTime& time : times) {
      std::printf("%s (%s): %.3f ms = %.3f + %.3f + %.3f\n",
                  time.workload.c_str(), time.generator.c_str(),
                  time.all_ns() * 1e-6, time.generate_ns * 1e-6,
                  time.replay_ns * 1e-6, time.verify_ns * 1e-6);
    }
  }
  std::printf("%s", PlanningTable(times).c_str());
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "planning_time_bench [--target=CLASS] [--runs=N] [--fuse-everything] "
    "[--each] "
    "FOLDER|FILE.onnx...";

int Main(const std::vector<std::string>& arguments) {
  Flags flags;
  OptionParser parser;
  parser.Text("target", &flags.cpu_class);
  parser.Number("runs", &flags.runs, 1);
  parser.Flag("fuse-everything", &flags.fuse_everything);
  parser.Flag("each", &flags.each);
  const absl::StatusOr<std::vector<std::string>> models =
      parser.Parse(arguments);
  if (!models.ok()) return ReportUsage(kUsage, models.status());
  return ReportStatus("planning_time_bench", Run(*models, flags));
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
