#include "tools/check_run.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/rewrite_model.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::tools {
namespace {

using measure::RunVerdict;
using measure::VerifyRunOptions;

// Relative error of an operation on bf16, and how much wider bounds of large
// Winograd tiles are (measure/verify/verifier.h).
constexpr double kBf16Unit = 0x1p-9;
constexpr double kWinograd4Scale = 16;

// A tensor of the imported graph that a launch writes.
struct Written {
  TensorId tensor;
  DType dtype;  // as it is written
  Place place;
  Layout layout;
};

// Which tensor of the imported graph `name` of the rewritten one holds: the one
// of that name, or, rounded, the one whose operand of products it is.
std::optional<TensorId> Imported(const TensorGraph& imported,
                                 absl::string_view name) {
  absl::ConsumeSuffix(&name, ".bf16");
  return imported.Find(std::string(name));
}

// By step. Tensors keep their names when a graph is rewritten; what only the
// rewritten graph has is not verified.
std::map<int, std::vector<Written>> WrittenBySteps(const Source& source) {
  const CompiledModel& compiled = *source.compiled;
  const TensorGraph& imported = source.imported->graph;
  std::vector<int> groups;  // of the launches, in order
  for (size_t g = 0; g < compiled.kernel_of_group.size(); ++g) {
    if (compiled.kernel_of_group[g] >= 0) groups.push_back(static_cast<int>(g));
  }
  std::map<int, std::vector<Written>> written;
  size_t next = 0;
  for (int step = 0; step < compiled.program.steps_size(); ++step) {
    if (!compiled.program.steps(step).has_launch()) continue;
    const Launch& launch = compiled.program.steps(step).launch();
    const CompiledKernel& kernel = compiled.kernels[launch.kernel()];
    const GroupWorkload group = MakeGroupWorkload(
        compiled.graph, compiled.plan, compiled.plan.groups[groups[next++]]);
    const auto outputs = group.workload.graph.outputs();
    const std::set<TensorId> is_output(outputs.begin(), outputs.end());
    for (int arg = 0; arg < launch.args_size(); ++arg) {
      const TensorId own = kernel.arg_tensors[arg];
      if (!is_output.count(own)) continue;
      const Tensor& tensor = compiled.graph.tensor(group.model_tensor[own]);
      const std::optional<TensorId> id = Imported(imported, tensor.name);
      if (!id || imported.tensor(*id).kind != TensorKind::kCompute ||
          IsFloat(imported.tensor(*id).dtype) != IsFloat(tensor.dtype) ||
          imported.tensor(*id).static_shape() != tensor.static_shape())
        continue;
      written[step].push_back(
          {*id, tensor.dtype, launch.args(arg), kernel.arg_layouts[arg]});
    }
  }
  return written;
}

// What a few operations make of smallest normal numbers that became zeros.
constexpr double kFlushedUnderflow = 0x1p-120;

VerifyRunOptions OptionsOf(const Source& source, int threads) {
  const Program& program = source.compiled->program;
  VerifyRunOptions options;
  options.threads = threads;
  if (source.flush_denormals) options.underflow = kFlushedUnderflow;
  for (const std::string& allow : program.allow()) {
    if (allow == kAllowBf16) options.unit = kBf16Unit;
    if (allow == kAllowWinograd4) options.bound_scale = kWinograd4Scale;
  }
  return options;
}

HostTensor As(DType dtype, HostTensor value) {
  if (value.dtype() == dtype) return value;
  HostTensor result(dtype, value.shape());
  for (int64_t i = 0; i < value.num_elements(); ++i)
    result.Set(i, value.Get(i));
  return result;
}

bool SameBits(const HostTensor& a, const HostTensor& b) {
  return a.size_bytes() == b.size_bytes() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size_bytes())) ==
             0;
}

}  // namespace

std::map<std::string, measure::IntegerRange> DrawnFrom(
    const ImportedModel& model) {
  const auto ranges = measure::IntegerRanges(model.graph);
  std::map<std::string, measure::IntegerRange> drawn;
  for (const auto& input : model.inputs) {
    const auto found = ranges.find(input.tensor);
    if (found != ranges.end()) drawn[input.name] = found->second;
  }
  return drawn;
}

absl::StatusOr<RunVerdict> CheckRun(const Source& source, Session& session,
                                    const std::vector<HostTensor>& inputs,
                                    const std::vector<HostTensor>& outputs) {
  const ImportedModel& model = *source.imported;
  std::vector<const void*> from;
  std::map<TensorId, HostTensor> given, observed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(inputs[i].data());
    given[model.inputs[i].tensor] = inputs[i];
  }
  std::vector<HostTensor> again = outputs;
  std::vector<void*> to;
  for (HostTensor& output : again) {
    std::memset(output.data(), 0, static_cast<size_t>(output.size_bytes()));
    to.push_back(output.data());
  }
  const std::map<int, std::vector<Written>> written = WrittenBySteps(source);
  absl::Status read;
  TW_RETURN_IF_ERROR(session.RunSteps(from, to, [&](int step) {
    const auto found = written.find(step);
    if (found == written.end()) return;
    for (const Written& one : found->second) {
      std::string physical(static_cast<size_t>(one.layout.physical_elements() *
                                               SizeBytes(one.dtype)),
                           '\0');
      read.Update(session.Read(one.place, static_cast<int64_t>(physical.size()),
                               &physical[0]));
      HostTensor value = one.layout.Unpack(one.dtype, physical);
      const DType dtype = model.graph.tensor(one.tensor).dtype;
      // Rounded for products, beside the tensor itself.
      if (one.dtype != dtype && observed.count(one.tensor)) continue;
      observed[one.tensor] = As(dtype, std::move(value));
    }
  }));
  TW_RETURN_IF_ERROR(read);
  RunVerdict verdict;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!SameBits(again[i], outputs[i])) {
      verdict.worst = model.outputs[i].name;
      verdict.reason = absl::StrCat("'", model.outputs[i].name,
                                    "': two runs give other bits");
      return verdict;
    }
    observed[model.outputs[i].tensor] = std::move(again[i]);
  }
  return measure::VerifyRun(
      model.graph, given, observed,
      OptionsOf(source, session.model().device().num_threads()));
}

std::string CheckText(const RunVerdict& verdict, bool capped) {
  if (!verdict.reason.empty())
    return absl::StrCat("check: wrong: ", verdict.reason, "\n");
  std::string text = absl::StrFormat(
      "check: right: %d elements of %d tensors, largest error %.3g of its "
      "bound%s (up to %g is right); %d with bounds wider than the values, %d "
      "without\n",
      verdict.elements, verdict.tensors, verdict.largest_error,
      verdict.worst.empty() ? "" : absl::StrCat(" in '", verdict.worst, "'"),
      verdict.limit, verdict.wide, verdict.unverified);
  if (capped) {
    absl::StrAppend(
        &text,
        "check: weak: with --level-cap tensors lie in bands, and only those "
        "that are whole in memory are verified, with bounds that run through "
        "all "
        "before them\n");
  }
  return text;
}

void AppendCheck(const RunVerdict& verdict, Json& json) {
  json.Open('{').Key("right").Bool(verdict.reason.empty());
  json.Key("reason").Text(verdict.reason);
  json.Key("tensors").Int(verdict.tensors);
  json.Key("elements").Int(verdict.elements);
  json.Key("wide_bound").Int(verdict.wide);
  json.Key("without_bound").Int(verdict.unverified);
  json.Key("largest_error").Number(verdict.largest_error);
  json.Key("limit").Number(verdict.limit);
  json.Key("worst").Text(verdict.worst).Close('}');
}

}  // namespace tilewright::tools
