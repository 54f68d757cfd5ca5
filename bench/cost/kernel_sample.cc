#include "bench/cost/kernel_sample.h"

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/string_view.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::bench {
namespace {

constexpr const char* kKinds[] = {"contraction", "winograd", "window",
                                  "strided",     "pooling",  "row",
                                  "elementwise"};

constexpr char kHead[] =
    "# kernel: model, family, launches, us of each, tensor\n"
    "# shape: stages or none, tasks, tiles, blocks, bytes of their sums\n"
    "# compute: kind, type, simple operations, exp, erf, tanh, pow, divisions, "
    "scattered loads, points, terms, terms are neighbours, rows, filled lanes, "
    "fused, Winograd's m, input tiles, output tiles, slowdown of the register "
    "tile\n"
    "# level: bytes read, written, short runs; from the outermost inwards\n";

void Append(const ComputeFeatures& c, std::string& text) {
  absl::StrAppend(&text, "compute ", kKinds[static_cast<int>(c.kind)], " ",
                  ToAbsl(Name(c.dtype)));
  const OperationCounts& o = c.operations;
  for (const double value :
       {o.simple, o.exps, o.erfs, o.tanhs, o.pows, o.divisions,
        o.scattered_loads, c.points, c.terms,
        c.terms_are_neighbours ? 1.0 : 0.0, c.rows, c.filled_lanes,
        c.is_fused ? 1.0 : 0.0, static_cast<double>(c.winograd_m),
        c.input_tiles, c.output_tiles, c.register_tile_slowdown})
    absl::StrAppendFormat(&text, " %.17g", value);
  text += "\n";
}

// Whether all of the line was read.
bool Ended(std::istringstream& line) {
  std::string rest;
  return !line.fail() && !(line >> rest);
}

bool Read(std::istringstream& line, ComputeFeatures& c) {
  std::string kind, dtype;
  OperationCounts& o = c.operations;
  line >> kind >> dtype >> o.simple >> o.exps >> o.erfs >> o.tanhs >> o.pows >>
      o.divisions >> o.scattered_loads >> c.points >> c.terms >>
      c.terms_are_neighbours >> c.rows >> c.filled_lanes >> c.is_fused >>
      c.winograd_m >> c.input_tiles >> c.output_tiles >>
      c.register_tile_slowdown;
  const auto type = ParseDType(dtype);
  if (!type) return false;
  c.dtype = *type;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kind != kKinds[i]) continue;
    c.kind = static_cast<ArithmeticKind>(i);
    return Ended(line);
  }
  return false;
}

bool ReadLine(const std::string& text, std::vector<KernelSample>& samples) {
  std::istringstream line(text);
  std::string what;
  line >> what;
  if (what == "kernel") {
    KernelSample& sample = samples.emplace_back();
    line >> sample.model >> sample.family >> sample.launches >> sample.us >>
        sample.name;
    return Ended(line);
  }
  if (samples.empty()) return false;
  KernelFeatures& kernel = samples.back().features;
  if (what == "shape") {
    line >> kernel.has_stages >> kernel.tasks >> kernel.tiles >>
        kernel.blocks >> kernel.sums_bytes;
    return Ended(line);
  }
  if (what == "stage") {
    kernel.stages.emplace_back();
    return Ended(line);
  }
  if (kernel.stages.empty()) return false;
  if (what == "compute")
    return Read(line, kernel.stages.back().computes.emplace_back());
  if (what != "level") return false;
  LevelBytes& level = kernel.stages.back().levels.emplace_back();
  line >> level.read >> level.written >> level.short_runs;
  return Ended(line);
}

}  // namespace

std::string ToText(absl::Span<const KernelSample> samples) {
  std::string text = kHead;
  for (const KernelSample& sample : samples) {
    const KernelFeatures& kernel = sample.features;
    absl::StrAppendFormat(&text, "kernel %s %s %d %.6g %s\n", sample.model,
                          sample.family, sample.launches, sample.us,
                          sample.name);
    absl::StrAppendFormat(&text, "shape %d %.17g %.17g %.17g %.17g\n",
                          kernel.has_stages ? 1 : 0, kernel.tasks, kernel.tiles,
                          kernel.blocks, kernel.sums_bytes);
    for (const StageFeatures& stage : kernel.stages) {
      text += "stage\n";
      for (const ComputeFeatures& compute : stage.computes)
        Append(compute, text);
      for (const LevelBytes& level : stage.levels)
        absl::StrAppendFormat(&text, "level %.17g %.17g %.17g\n", level.read,
                              level.written, level.short_runs);
    }
  }
  return text;
}

absl::StatusOr<std::vector<KernelSample>> ParseSamples(absl::string_view text) {
  std::vector<KernelSample> samples;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (!ReadLine(std::string(line), samples))
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " is no line of kernel samples: '",
                       line.substr(0, 60), "'"));
  }
  return samples;
}

}  // namespace tilewright::bench
