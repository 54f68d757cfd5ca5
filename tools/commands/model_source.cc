#include "tools/commands/model_source.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/with_cores.h"
#include "base/check.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/rewrite_model.h"
#include "runtime/format/program.pb.h"
#include "tools/backends.h"
#include "tools/commands/daemon_records.h"
#include "tools/commands/fusion_measuring.h"
#include "tools/commands/schedule_sources.h"
#include "tools/commands/usage.h"
#include "tools/tensor_files.h"

namespace tilewright::tools {
namespace {

constexpr char kAmxTarget[] = "cpu:x86-64-v4-amx";
// Tasks are several for each thread, so that a few more threads have work too.
constexpr int kFarFewer = 2;

// CPU time of all threads, because LLVM works on one of its own.
int64_t ProcessCpuNs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

absl::Status WithPath(const absl::Status& status, const std::string& path) {
  if (absl::StrContains(status.message(), path)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

// "NAME=VALUE", both not empty.
absl::StatusOr<std::pair<std::string, std::string>> NameAndValue(
    const std::string& flag, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Usage(absl::StrCat("--", flag, "=", text, ": expected --", flag,
                              "=NAME=VALUE"));
  }
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

absl::StatusOr<ImportOptions> ImportOptionsFrom(const CommandLine& line) {
  ImportOptions options;
  for (const std::string& text : line.All("dim")) {
    TW_ASSIGN_OR_RETURN(const auto dim, NameAndValue("dim", text));
    int64_t value;
    if (!absl::SimpleAtoi(dim.second, &value) || value < 1) {
      return Usage(absl::StrCat("--dim=", text,
                                ": the value must be a positive integer"));
    }
    options.dims[dim.first] = value;
  }
  for (const std::string& text : line.All("bind")) {
    TW_ASSIGN_OR_RETURN(const auto bind, NameAndValue("bind", text));
    double number;
    if (absl::SimpleAtod(bind.second.substr(0, bind.second.find(',')),
                         &number)) {
      options.bind_text[bind.first] = bind.second;
    } else {
      TW_ASSIGN_OR_RETURN(options.bind_tensors[bind.first],
                          ReadTensor(UserPath(bind.second)));
    }
  }
  return options;
}

namespace {

// The bytes of "dram:64M".
absl::StatusOr<int64_t> CapBytes(absl::string_view text) {
  absl::string_view number = text;
  int64_t unit = 1, value = 0;
  const bool dram = absl::ConsumePrefix(&number, "dram:");
  for (const auto& [suffix, bytes] :
       {std::pair<const char*, int64_t>{"K", int64_t{1} << 10},
        {"M", int64_t{1} << 20},
        {"G", int64_t{1} << 30}}) {
    if (absl::ConsumeSuffix(&number, suffix)) unit = bytes;
  }
  if (!dram || !absl::SimpleAtoi(number, &value) || value < 1 ||
      value > (int64_t{1} << 40) / unit) {
    return Usage(absl::StrCat("--level-cap=", text,
                              ": expected dram:BYTES, as dram:64M"));
  }
  return value * unit;
}

}  // namespace

absl::StatusOr<CompileOptions> CompileOptionsFrom(const CommandLine& line) {
  CompileOptions options;
  const std::optional<PlanOptions::Connect> connect =
      ParseConnect(line.Get("connect", "tilegraph"));
  TW_CHECK(connect.has_value()) << "the flag table has another choice";
  options.plan.connect = *connect;
  if (line.Get("connect-search") == "greedy")
    options.connect.search = ConnectSearch::kGreedy;
  if (line.Get("cost") == "traffic") options.cost_key = CostKey::kTraffic;
  if (line.Has("level-cap")) {
    TW_ASSIGN_OR_RETURN(options.cap.arena_bytes,
                        CapBytes(line.Get("level-cap")));
    options.cap.operator_by_operator =
        options.plan.connect == PlanOptions::Connect::kNone;
  }
  for (const std::string& list : line.All("allow")) {
    for (const absl::string_view name : absl::StrSplit(list, ','))
      options.allow.emplace_back(name);
  }
  return options;
}

absl::StatusOr<DeviceSpec> SpecFrom(const CommandLine& line) {
  if (line.Has("spec")) {
    const std::string name = line.Get("spec");
    return LoadSpec(absl::StrContains(name, '/') || absl::StrContains(name, '.')
                        ? UserPath(name)
                        : name);
  }
  const std::string target = line.Get("target", "cpu");
  if (target == "cpu") return HostSpec();
  if (target == kAmxTarget)
    return Usage(absl::StrCat(
        "--target=", target,
        ": nothing is emitted for AMX yet: --target=cpu:x86-64-v4-bf16 has the "
        "same code, for more machines"));
  std::vector<std::string> known = {"cpu"};
  for (const std::string& cpu_class : CpuClasses()) {
    const std::string name = absl::StrCat("cpu:", cpu_class);
    if (name == target)
      return LoadSpec(
          absl::StrCat("cpu_", absl::StrReplaceAll(cpu_class, {{"-", "_"}})));
    if (name != kAmxTarget) known.push_back(name);
  }
  for (const std::string& gpu : GpuTargets()) {
    if (gpu == target) return GpuSpec(target);
    known.push_back(gpu);
  }
  return Usage(absl::StrCat("--target=", target, ": expected ",
                            absl::StrJoin(known, ", ")));
}

namespace {

absl::Status CheckAllow(const CommandLine& line, const DeviceSpec& spec) {
  for (const std::string& list : line.All("allow")) {
    if (!absl::StrContains(list, kAllowBf16) || MultipliesBf16(spec)) continue;
    return Usage(absl::StrCat(
        "--allow=", kAllowBf16, " has no effect on ", spec.target(),
        ", which has no products of bf16, or none that are faster: leave it "
        "out, or compile for one that has, as --target=cpu:x86-64-v4-bf16"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<backends::Codegen>> CodegenFrom(
    const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, SpecFrom(line));
  TW_RETURN_IF_ERROR(CheckAllow(line, spec));
  if (line.Has("threads")) {
    const int64_t threads = line.GetInt("threads", 1);
    if (line.Has("spec") || line.Get("target", "cpu") != "cpu") {
      spec = WithCores(std::move(spec), threads);
    } else {
      TW_ASSIGN_OR_RETURN(spec, HostSpecWithCores(threads));
    }
  }
  return CodegenFor(spec);
}

absl::StatusOr<Source> CompileOnnx(const CommandLine& line,
                                   const std::string& path,
                                   const BoundInputs& bound) {
  TW_ASSIGN_OR_RETURN(ImportOptions import_options, ImportOptionsFrom(line));
  import_options.bind_tensors.insert(bound.begin(), bound.end());
  TW_ASSIGN_OR_RETURN(CompileOptions compile_options, CompileOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  TW_ASSIGN_OR_RETURN(const DeviceSpec machine, SpecFrom(line));
  TW_RETURN_IF_ERROR(FetchDaemonRecords(line, codegen->spec()));
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<FusionMeasuring> measuring,
      FusionMeasuring::From(line, machine, codegen->spec(), compile_options));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ScheduleSources> schedules,
                      ScheduleSources::From(line));
  compile_options.schedules = schedules.get();
  const int64_t start_ns = ProcessCpuNs();
  Source source;
  absl::StatusOr<ImportedModel> imported = ImportModel(path, import_options);
  if (!imported.ok()) return WithPath(imported.status(), path);
  source.imported = *std::move(imported);
  absl::StatusOr<CompiledModel> compiled =
      Compile(*source.imported, *codegen, compile_options);
  if (measuring) measuring->Finish();
  if (schedules) {
    for (const std::string& note : schedules->Notes())
      std::fprintf(stderr, "tilewright: note: %s\n", note.c_str());
  }
  if (!compiled.ok()) return WithPath(compiled.status(), path);
  source.compiled = *std::move(compiled);
  source.compile_cpu_s = static_cast<double>(ProcessCpuNs() - start_ns) * 1e-9;
  return source;
}

absl::StatusOr<Source> LoadSource(const CommandLine& line,
                                  const std::string& path,
                                  const BoundInputs& bound, cpu::TaskLog* log) {
  cpu::CpuDeviceOptions of_cpu;
  of_cpu.num_threads = static_cast<int>(line.GetInt("threads", 0));
  of_cpu.flush_denormals = line.Has("flush-denormals");
  of_cpu.task_log = log;
  const auto device = [&](const Program& program) {
    return DeviceFor(program.target(), of_cpu);
  };
  Source source;
  if (!absl::EndsWith(path, ".onnx")) {
    TW_ASSIGN_OR_RETURN(source.model, Model::Load(path, device));
    return source;
  }
  TW_ASSIGN_OR_RETURN(source, CompileOnnx(line, path, bound));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<backends::Device> runs,
                      device(source.compiled->program));
  TW_ASSIGN_OR_RETURN(
      source.model, Model::FromView(source.compiled->View(), std::move(runs)));
  source.flush_denormals = of_cpu.flush_denormals;
  return source;
}

void TellPlannedForFewer(const Source& source) {
  const int planned = source.model->program().planned_threads();
  const int threads = source.model->device().num_threads();
  if (planned == 0 || planned * kFarFewer >= threads) return;
  std::fprintf(stderr,
               "tilewright: planned for %d thread%s, run with %d: compile with "
               "--threads=%d\n",
               planned, planned == 1 ? "" : "s", threads, threads);
}

}  // namespace tilewright::tools
