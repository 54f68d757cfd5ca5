#include "tools/commands/gpu_report.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/rewrite_model.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/plan/plan.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"

namespace tilewright::tools {

std::optional<DeviceSpec> GpuSpecFrom(const CommandLine& line) {
  if (!line.Has("spec")) return std::nullopt;
  const std::string name = line.Get("spec");
  const bool file =
      absl::StrContains(name, '/') || absl::EndsWith(name, ".textproto");
  const absl::StatusOr<DeviceSpec> spec =
      LoadSpec(file ? UserPath(name) : name);
  if (!spec.ok() || !GpuLevelsOf(*spec)) return std::nullopt;
  return *spec;
}

absl::Status CheckGpuFlags(const CommandLine& line) {
  const auto usage = [&](absl::string_view flag) {
    return Usage(absl::StrCat(
        "--", flag, " has no effect with --spec=", line.Get("spec"),
        ": of a GPU there is only the plan, and --what=why"));
  };
  const std::string what = line.Get("what", "plan");
  if (what != "plan" && what != "why") return usage("what");
  for (const char* flag : {"threads", "allow", "records", "measure",
                           "connect-search", "cost", "level-cap", "report"}) {
    if (line.Has(flag)) return usage(flag);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> GpuPlanText(const CommandLine& line,
                                        const std::string& path,
                                        const DeviceSpec& spec) {
  TW_ASSIGN_OR_RETURN(const ImportOptions import_options,
                      ImportOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const ImportedModel imported,
                      ImportModel(path, import_options));
  TW_ASSIGN_OR_RETURN(const CompileOptions compile, CompileOptionsFrom(line));
  const ImportedModel model =
      RewriteModel(imported, spec, compile.plan, compile.allow);
  PlanOptions plan_options = compile.plan;
  plan_options.channel_block = 0;  // layouts are a CPU's
  const Plan plan = MakePlan(model.graph, plan_options);
  GpuKernelsOptions options;
  options.fuse = !line.Has("connect") ||
                 compile.plan.connect == PlanOptions::Connect::kTileGraph;
  TW_ASSIGN_OR_RETURN(const GpuPlan planned,
                      PlanGpuKernels(model.graph, plan, spec, options));
  const std::string title =
      absl::StrCat("for ", spec.name(), " (", spec.target(), ")\n");
  if (line.Get("what", "plan") == "plan")
    return absl::StrCat(title, ToString(model.graph, planned));
  const int64_t group = line.GetInt("group", -1);
  const auto groups = static_cast<int64_t>(planned.plan.groups.size());
  if (group >= groups)
    return absl::InvalidArgumentError(absl::StrCat(
        "--group=", group, ": the plan has groups 0 to ", groups - 1));
  return absl::StrCat(title,
                      WhyText(model.graph, planned, static_cast<int>(group)));
}

}  // namespace tilewright::tools
