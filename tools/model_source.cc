#include "tools/model_source.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "compiler/rewrite_model.h"
#include "tools/join_measuring.h"
#include "tools/tensor_files.h"
#include "tools/usage.h"
#include "tools/user_path.h"

namespace tilewright::tools {
namespace {

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
  const std::string connect = line.Get("connect", "register");
  const std::optional<PlanOptions::Connect> parsed = ParseConnect(connect);
  if (!parsed)
    return Usage(absl::StrCat("--connect=", connect,
                              ": expected tilegraph, register or none"));
  options.plan.connect = *parsed;
  const std::string search = line.Get("connect-search", "paper");
  if (search == "greedy") {
    options.connect.search = ConnectSearch::kGreedy;
  } else if (search != "paper") {
    return Usage(absl::StrCat("--connect-search=", search,
                              ": expected paper or greedy"));
  }
  const std::string cost = line.Get("cost", "time");
  if (cost == "traffic") {
    options.connect.weigh.cost_key = CostKey::kTraffic;
  } else if (cost != "time") {
    return Usage(absl::StrCat("--cost=", cost, ": expected time or traffic"));
  }
  if (line.Has("level-cap")) {
    TW_ASSIGN_OR_RETURN(options.cap.arena_bytes,
                        CapBytes(line.Get("level-cap")));
    options.cap.operator_by_operator =
        options.plan.connect == PlanOptions::Connect::kNone;
  }
  for (const std::string& list : line.All("allow")) {
    for (const absl::string_view name :
         absl::StrSplit(list, ',', absl::SkipWhitespace())) {
      if (name != kAllowWinograd4 && name != kAllowBf16) {
        return Usage(absl::StrCat("--allow=", name, ": expected ",
                                  kAllowWinograd4, " or ", kAllowBf16));
      }
      options.allow.emplace_back(name);
    }
  }
  return options;
}

absl::StatusOr<std::unique_ptr<backends::Codegen>> CodegenFrom(
    const CommandLine& line) {
  const std::string target = line.Get("target", "cpu");
  if (target != "cpu" && !absl::StartsWith(target, "cpu:")) {
    return Usage(absl::StrCat(
        "--target=", target,
        ": this build has only cpu[:x86-64-v2|v3|v4|v4-vnni|v4-bf16|v4-amx]"));
  }
  DeviceSpec spec;
  if (line.Has("spec")) {
    const std::string name = line.Get("spec");
    TW_ASSIGN_OR_RETURN(spec, LoadSpec(absl::StrContains(name, '/') ||
                                               absl::StrContains(name, '.')
                                           ? UserPath(name)
                                           : name));
  } else if (target == "cpu") {
    TW_ASSIGN_OR_RETURN(spec, HostSpec());
  } else {
    std::string name = absl::StrCat("cpu_", target.substr(4));
    std::replace(name.begin(), name.end(), '-', '_');
    const absl::StatusOr<DeviceSpec> committed = LoadSpec(name);
    if (!committed.ok())
      return Usage(absl::StrCat(
          "--target=", target,
          ": expected cpu[:x86-64-v2|v3|v4|v4-vnni|v4-bf16|v4-amx]"));
    spec = *committed;
  }
  return cpu::CreateCpuCodegen(spec);
}

absl::StatusOr<std::shared_ptr<backends::Device>> DeviceFrom(
    const CommandLine& line, cpu::TaskLog* log) {
  const int64_t threads = line.GetInt("threads", 0);
  if (threads < 0 || threads > 4096)
    return Usage(absl::StrCat("--threads=", threads, ": expected 1 to 4096"));
  cpu::CpuDeviceOptions options;
  options.num_threads = static_cast<int>(threads);
  options.task_log = log;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::Device> device,
                      cpu::CreateCpuDevice(options));
  return std::shared_ptr<backends::Device>(std::move(device));
}

absl::StatusOr<Source> CompileOnnx(const CommandLine& line,
                                   const std::string& path,
                                   const BoundInputs& bound) {
  TW_ASSIGN_OR_RETURN(ImportOptions import_options, ImportOptionsFrom(line));
  import_options.bind_tensors.insert(bound.begin(), bound.end());
  TW_ASSIGN_OR_RETURN(CompileOptions compile_options, CompileOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<JoinMeasuring> measuring,
      JoinMeasuring::From(line, codegen->spec(), compile_options));
  const int64_t start_ns = ProcessCpuNs();
  Source source;
  absl::StatusOr<ImportedModel> imported = ImportModel(path, import_options);
  if (!imported.ok()) return WithPath(imported.status(), path);
  source.imported = *std::move(imported);
  absl::StatusOr<CompiledModel> compiled =
      Compile(*source.imported, *codegen, compile_options);
  if (measuring) measuring->Finish();
  if (!compiled.ok()) return WithPath(compiled.status(), path);
  source.compiled = *std::move(compiled);
  source.compile_cpu_s =
      static_cast<double>(ProcessCpuNs() - start_ns) * 1e-9;
  return source;
}

absl::StatusOr<Source> LoadSource(const CommandLine& line,
                                  const std::string& path,
                                  const BoundInputs& bound, cpu::TaskLog* log) {
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<backends::Device> device,
                      DeviceFrom(line, log));
  Source source;
  if (absl::EndsWith(path, ".onnx")) {
    TW_ASSIGN_OR_RETURN(source, CompileOnnx(line, path, bound));
    TW_ASSIGN_OR_RETURN(source.model,
                        Model::FromBytes(source.compiled->Serialize(), device));
  } else {
    TW_ASSIGN_OR_RETURN(source.model, Model::Load(path, device));
  }
  return source;
}

}  // namespace tilewright::tools
