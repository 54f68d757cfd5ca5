// tilewright compile MODEL.onnx -o OUT.tw
#include <sys/resource.h>

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "runtime/format/moved_bytes.h"
#include "runtime/format/tw_file.h"
#include "tools/block_report.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/fallbacks.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

int64_t PeakRssBytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// The bytes that every launch must at least move.
int64_t BytesMoved(const Program& program) {
  int64_t bytes = 0;
  for (const Step& step : program.steps()) {
    if (step.has_launch())
      bytes += program.kernels(step.launch().kernel()).compulsory_bytes();
    if (step.has_copy()) bytes += 2 * BytesOf(step.copy());
  }
  return bytes;
}

}  // namespace

absl::Status CompileCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  if (!line.Has("output")) return Usage("'compile' needs -o OUT.tw");
  if (!absl::EndsWith(path, ".onnx"))
    return Usage(absl::StrCat(path, ": 'compile' takes an .onnx file"));
  TW_ASSIGN_OR_RETURN(const Source source, CompileOnnx(line, path));
  const CompiledModel& compiled = *source.compiled;
  const TwParts file = compiled.File();
  TW_RETURN_IF_ERROR(
      WriteFileAtomically(UserPath(line.Get("output")), file.parts()));
  if (line.Has("json")) {
    Json json;
    json.Open('{')
        .Key("output")
        .Text(line.Get("output"))
        .Key("target")
        .Text(compiled.program.target())
        .Key("planned_threads")
        .Int(compiled.program.planned_threads());
    json.Key("kernels")
        .Int(compiled.program.kernels_size())
        .Key("launches")
        .Int(static_cast<int64_t>(compiled.kernel_of_group.size()));
    json.Key("bytes_moved")
        .Int(BytesMoved(compiled.program))
        .Key("arena_bytes")
        .Int(compiled.program.arena_bytes())
        .Key("host_bytes")
        .Int(compiled.program.host_bytes())
        .Key("host_device_bytes")
        .Int(MovedBytes(compiled.program));
    json.Key("constant_bytes")
        .Int(static_cast<int64_t>(compiled.constants.size()))
        .Key("file_bytes")
        .Int(file.size_bytes());
    AppendBlocks(compiled.program, json.Key("blocks"));
    AppendFallbacks(compiled.program, json.Key("fallbacks"));
    json.Key("compile_cpu_s")
        .Number(source.compile_cpu_s)
        .Key("peak_rss_bytes")
        .Int(PeakRssBytes())
        .Close('}');
    std::printf("%s\n", json.text().c_str());
    return absl::OkStatus();
  }
  std::printf(
      "%s: %d kernels in %zu launches for %s with %d threads, %.1f MB "
      "constants, %.1f MB arena, compiled in %.2f s of CPU\n",
      line.Get("output").c_str(), compiled.program.kernels_size(),
      compiled.kernel_of_group.size(), compiled.program.target().c_str(),
      compiled.program.planned_threads(),
      static_cast<double>(compiled.constants.size()) * 1e-6,
      static_cast<double>(compiled.program.arena_bytes()) * 1e-6,
      source.compile_cpu_s);
  std::fputs(BlocksText(compiled.program).c_str(), stdout);
  std::fputs(FallbackText(compiled.program).c_str(), stdout);
  if (line.Has("level-cap"))
    std::printf(
        "%.1f MB on the host, %.1f MB between host and arena in a run\n",
        static_cast<double>(compiled.program.host_bytes()) * 1e-6,
        static_cast<double>(MovedBytes(compiled.program)) * 1e-6);
  return absl::OkStatus();
}

}  // namespace tilewright::tools
