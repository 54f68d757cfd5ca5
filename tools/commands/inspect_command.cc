// tilewright inspect MODEL: what the compiler made of it, at every stage.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "sketch/replay/replay.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/text/text_form.h"
#include "tools/block_report.h"
#include "tools/commands/commands.h"
#include "tools/commands/gpu_report.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/decision_report.h"
#include "tools/fallbacks.h"
#include "tools/page/fill_page.h"
#include "tools/page/json.h"
#include "tools/plan/gpu_why.h"
#include "tools/plan/plan_picture.h"
#include "tools/plan/plan_report.h"
#include "tools/profile/print.h"
#include "tools/profile/profile.h"
#include "tools/tune/tune_page.h"

namespace tilewright::tools {
namespace {

std::string DescribePlace(const Program& program, const Place& place) {
  const ProgramBuffer& buffer = program.buffers(place.buffer());
  switch (buffer.kind()) {
    case ProgramBuffer::INPUT:
      return program.inputs(buffer.index()).name();
    case ProgramBuffer::OUTPUT:
      return program.outputs(buffer.index()).name();
    case ProgramBuffer::CONSTANT:
      return absl::StrCat("constant@",
                          buffer.offset_bytes() + place.offset_bytes());
    default:
      return absl::StrCat("arena@",
                          buffer.offset_bytes() + place.offset_bytes());
  }
}

// Launch plan, buffers and provenance: all that a .tw still knows.
std::string DescribeProgram(const Program& program) {
  std::string out =
      absl::StrCat("made by ", program.producer(), " for ", program.target(),
                   ", planned for ", program.planned_threads(),
                   " threads; arena ", program.arena_bytes(),
                   " bytes, at least ", program.least_arena_bytes(), "\n");
  for (const TensorSpec& input : program.inputs())
    absl::StrAppend(&out, "input  ", input.name(), ": ", ToString(input), "\n");
  for (const TensorSpec& output : program.outputs())
    absl::StrAppend(&out, "output ", output.name(), ": ", ToString(output),
                    "\n");
  for (const Step& step : program.steps()) {
    if (step.has_launch()) {
      const KernelInfo& kernel = program.kernels(step.launch().kernel());
      const std::string args =
          absl::StrJoin(step.launch().args(), ", ",
                        [&](std::string* text, const Place& place) {
                          text->append(DescribePlace(program, place));
                        });
      absl::StrAppend(
          &out, step.launch().beside_previous() ? "beside " : "launch ",
          kernel.name(), " tasks=", kernel.num_tasks(), " args=[", args, "]\n");
    } else if (step.has_copy()) {
      absl::StrAppend(&out, "copy   ", DescribePlace(program, step.copy().to()),
                      " from ", DescribePlace(program, step.copy().from()), " ",
                      step.copy().size_bytes(), " bytes\n");
    } else {
      absl::StrAppend(&out, "zero   ", DescribePlace(program, step.zero().to()),
                      " ", step.zero().size_bytes(), " bytes");
      for (const Zero::Repeat& repeat : step.zero().repeats())
        absl::StrAppend(&out, " x", repeat.count());
      out += "\n";
    }
  }
  for (const KernelInfo& kernel : program.kernels()) {
    absl::StrAppend(
        &out, "\nkernel ", kernel.name(), "  computes ", kernel.label(),
        "\n  schedule from ", kernel.source(), ", ", kernel.code_bytes(),
        " bytes of code, ", kernel.spills(), " spills, ",
        kernel.threads() > 0 ? BlocksText(kernel)
                             : absl::StrCat(kernel.scratch_bytes(),
                                            " bytes of scratch a thread"),
        "\n", FallbackText(kernel));
  }
  if (!program.unfused().empty())
    absl::StrAppend(&out, "\n", UnfusedText(program));
  return out;
}

// The time that the device spec allows each kernel, without running any.
absl::StatusOr<Profile> Roofline(const CommandLine& line,
                                 const Program& program) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  const int threads =
      static_cast<int>(std::max<int64_t>(1, line.GetInt("threads", 1)));
  return DescribeBounds(program, LimitsOfSpec(codegen->spec(), threads),
                        threads);
}

absl::StatusOr<std::string> DescribeKernel(const Source& source,
                                           const backends::Codegen& codegen,
                                           const std::string& what, int group) {
  const int number = source.compiled->kernel_of_group[group];
  if (number < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("group ", group, " is a copy between host and device"));
  const CompiledKernel& kernel = source.compiled->kernels[number];
  const std::string fallback =
      FallbackText(source.compiled->program.kernels(number));
  if (what == "schedule")
    return absl::StrCat(fallback, kernel.workload.workload.Text(), "\n",
                        kernel.schedule.ToString());
  if (what == "kernel")
    return absl::StrCat(fallback, kernel.tile.ToString(), "\n",
                        kernel.scalar.ToString());
  return codegen.Source(kernel.scalar);
}

absl::StatusOr<std::string> Describe(const CommandLine& line,
                                     const Source& source,
                                     const std::string& what,
                                     std::optional<PlanReport>& plan) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  if (what == "graph") return PrintText(source.imported->graph);
  if (what == "plan" || what == "why")
    plan = ReportPlan(*source.compiled, codegen->spec());
  if (what == "plan" && source.compiled->gpu)
    return absl::StrCat(
        ToString(source.compiled->graph, source.compiled->gpu->plan),
        BlocksText(source.compiled->program),
        FallbackText(source.compiled->program));
  if (what == "plan")
    return absl::StrCat(PlanText(*source.compiled, *plan),
                        FallbackText(source.compiled->program));
  const int groups = static_cast<int>(source.compiled->plan.groups.size());
  const int64_t only = line.GetInt("group", -1);
  if (line.Has("group") && only >= groups) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--group=", only, ": the plan has groups 0 to ", groups - 1));
  }
  if (what == "why" && source.compiled->gpu)
    return GpuWhyText(*source.compiled, static_cast<int>(only));
  if (what == "why")
    return WhyText(*source.compiled, *plan, static_cast<int>(only));
  if (what == "decisions")
    return DecisionsText(*source.imported, *source.compiled,
                         static_cast<int>(only));
  std::string out;
  for (int g = 0; g < groups; ++g) {
    if (line.Has("group") && g != only) continue;
    TW_ASSIGN_OR_RETURN(const std::string text,
                        DescribeKernel(source, *codegen, what, g));
    absl::StrAppend(&out, "group ", g, "\n", text, "\n");
  }
  return out;
}

// The plan as a page, or as a picture alone.
absl::Status WritePicture(const CommandLine& line, const std::string& path,
                          const CompiledModel& compiled,
                          const PlanReport& report) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  const std::string to = UserPath(line.Get("report"));
  const Picture picture = MakePicture(compiled, report, codegen->spec());
  return WriteFileAtomically(
      to, absl::EndsWith(to, ".svg")
              ? PictureSvg(picture, /*alone=*/true)
              : PlanPage(compiled, report, picture, TitleOf(path)));
}

// The page of a search, of its trace.
absl::Status WriteSearchPage(const CommandLine& line, const std::string& path) {
  if (line.Has("report")) return WriteTunePage(path, line.Get("report"));
  return Usage(absl::StrCat(path,
                            ": of the trace of a search 'inspect' makes "
                            "a page: add --report=FILE.html"));
}

}  // namespace

absl::Status InspectCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  if (absl::EndsWith(path, ".jsonl")) return WriteSearchPage(line, path);
  const bool is_onnx = absl::EndsWith(path, ".onnx");
  const std::string what = line.Get("what", is_onnx ? "plan" : "program");
  std::string text;
  std::optional<Profile> roofline;
  std::optional<PlanReport> plan;
  std::optional<Program> program;  // none of a GPU
  Source source;
  if (const auto gpu = GpuSpecFrom(line); gpu && is_onnx) {
    TW_RETURN_IF_ERROR(CheckGpuFlags(line));
    TW_ASSIGN_OR_RETURN(text, GpuPlanText(line, path, *gpu));
  } else if (is_onnx) {
    TW_ASSIGN_OR_RETURN(source, CompileOnnx(line, path));
    program = source.compiled->program;
    if (what == "roofline") {
      TW_ASSIGN_OR_RETURN(roofline, Roofline(line, source.compiled->program));
    } else {
      TW_ASSIGN_OR_RETURN(text, Describe(line, source, what, plan));
    }
  } else {
    TW_ASSIGN_OR_RETURN(const auto file, TwFile::Open(path));
    program = file->view().program;
    if (what == "roofline") {
      TW_ASSIGN_OR_RETURN(roofline, Roofline(line, file->view().program));
    } else {
      text = DescribeProgram(file->view().program);
    }
  }
  if (roofline) text = ProfileTable(*roofline);
  if (line.Has("json")) {
    Json json;
    json.Open('{').Key("what").Text(what).Key("text").Text(text);
    if (roofline) AppendProfile(*roofline, json.Key("roofline"));
    if (what == "decisions" && !line.Has("group"))
      AppendModelDecisions(*source.imported, *source.compiled,
                           json.Key("model"));
    if (what == "decisions")
      AppendDecisions(*source.compiled,
                      static_cast<int>(line.GetInt("group", -1)),
                      json.Key("kernels"));
    if (plan) AppendPlan(*source.compiled, *plan, json.Key("plan"));
    if (program) AppendFallbacks(*program, json.Key("fallbacks"));
    text = json.Close('}').text() + "\n";
  }
  std::fputs(text.c_str(), stdout);
  return line.Has("report") ? WritePicture(line, path, *source.compiled, *plan)
                            : absl::OkStatus();
}

}  // namespace tilewright::tools
