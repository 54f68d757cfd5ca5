// What the kernels of whole models do to a GPU's memory, counted by the
// emulator, beside what their plans expect. No GPU is needed, but a C++
// compiler is.
//
//   memory_report [--spec=NAME] [--rows] [--lines] [--most=N] MODEL.onnx...
//
// A line for each model: the tensors of its kernels, in memory and in shared
// memory, how many of them have a count within 5 % of what the plan's cost is
// made of, and of what it expects warps to ask for, and the sums of all three.
// `rows` lists every tensor of every kernel, `lines` the lines of their texts
// that take more than they might. Kernels whose plans expect more than N
// sectors and turns are left out, and counted in the last column. Exit status 1
// if a model does not compile or run.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/gpu/memory_counts.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"

namespace tilewright {
namespace {

struct Print {
  bool rows = false, lines = false;
};

struct Sum {
  int rows = 0, agree = 0, costs_agree = 0;
  double planned = 0, costed = 0, counted = 0, least = 0;

  void Add(const MemoryRow& row) {
    ++rows;
    agree += row.agrees(row.planned) ? 1 : 0;
    costs_agree += row.agrees(row.costed) ? 1 : 0;
    planned += row.planned;
    costed += row.costed;
    counted += row.counted;
    least += row.least;
  }
  std::string Text() const {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "%d | %d | %d | %.0f | %.0f | %.0f | %.0f", rows, costs_agree,
                  agree, costed, planned, counted, least);
    return text;
  }
};

void PrintRow(const MemoryRow& row) {
  std::printf(
      "  %s %-24s %-7s costed %.0f planned %.0f counted %.0f least %.0f",
      row.agrees(row.planned) ? " " : "*", row.tensor.c_str(),
      row.shared ? "shared" : "memory", row.costed, row.planned, row.counted,
      row.least);
  if (!row.shared) std::printf(" once a block %.0f", row.block_sectors);
  std::printf(" accesses %lld\n", static_cast<long long>(row.accesses));
}

absl::Status Report(const std::string& path, const DeviceSpec& spec,
                    const Print& print, double most, Sum (&all)[2]) {
  TW_ASSIGN_OR_RETURN(const ImportedModel model, ImportModel(path, {}));
  const auto codegen = emulator::CreateEmulatorCodegen(spec);
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(model, *codegen, {}));
  TW_ASSIGN_OR_RETURN(const MemoryCounts counts, CountMemory(compiled, most));
  Sum sums[2];
  std::string kernel;
  for (const MemoryRow& row : counts.rows) {
    sums[row.shared].Add(row);
    all[row.shared].Add(row);
    if (!print.rows) continue;
    if (row.kernel != kernel) std::printf("%s\n", row.kernel.c_str());
    kernel = row.kernel;
    PrintRow(row);
  }
  std::printf("| %s | %s | %s | %zu |\n", path.c_str(), sums[0].Text().c_str(),
              sums[1].Text().c_str(), counts.left_out.size());
  if (print.lines) std::printf("%s", counts.lines.c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& paths, const std::string& name,
                 const Print& print, double most) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(name));
  std::printf(
      "%s\n\n| model | memory: tensors | cost within 5 %% | plan within 5 %% | "
      "sectors costed | planned | counted | least | shared: tensors | cost "
      "within 5 %% | plan within 5 %% | turns costed | planned | counted | "
      "least "
      "| kernels left out |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      spec.name().c_str());
  Sum all[2];
  absl::Status first;
  for (const std::string& path : paths) {
    const absl::Status status = Report(path, spec, print, most, all);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
    first.Update(status);
  }
  std::printf("| all | %s | %s | |\n", all[0].Text().c_str(),
              all[1].Text().c_str());
  return first;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  std::string spec = "h100";
  tilewright::Print print;
  double most = 1e8;
  tilewright::OptionParser parser;
  parser.Text("spec", &spec);
  parser.Flag("rows", &print.rows);
  parser.Flag("lines", &print.lines);
  parser.Number("most", &most, 1);
  return tilewright::RunOnArguments(
      "memory_report",
      "memory_report [--spec=NAME] [--rows] [--lines] [--most=N] MODEL.onnx...",
      parser, std::vector<std::string>(argv + 1, argv + argc),
      [&](const std::vector<std::string>& paths) {
        return tilewright::Run(paths, spec, print, most);
      });
}
