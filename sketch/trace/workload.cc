#include "sketch/trace/workload.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/plan/workload_text.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

// The same tensors with the same ids; those placeholders in `constants` become
// constants of zeros.
TensorGraph WithLeaves(const TensorGraph& graph,
                       const std::set<std::string>& constants) {
  TensorGraph copy;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) {
      copy.AddCompute(tensor.name, tensor.dtype, tensor.compute, tensor.hint);
    } else if (constants.count(tensor.name) != 0) {
      copy.AddConstant(tensor.name, std::make_shared<HostTensor>(
                                        tensor.dtype, tensor.static_shape()));
    } else {
      copy.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
    }
  }
  copy.SetOutputs({graph.outputs().begin(), graph.outputs().end()});
  return copy;
}

// `line`: "NAME (b0,b1|a0,a1)".
absl::Status AddZeros(std::string_view line, Workload& workload) {
  const size_t space = line.rfind(' ');
  if (space == std::string_view::npos)
    return absl::InvalidArgumentError(
        "a line of known zeros needs a tensor and its zeros");
  const std::string name(line.substr(0, space));
  const std::optional<TensorId> id = workload.graph.Find(name);
  if (!id || workload.graph.tensor(*id).kind != TensorKind::kPlaceholder) {
    return absl::InvalidArgumentError(absl::StrCat(
        "known zeros of '", name, "', which is no placeholder of the graph"));
  }
  absl::StatusOr<KnownZeros> zeros = KnownZeros::Parse(
      line.substr(space + 1), workload.graph.tensor(*id).static_shape());
  if (!zeros.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "known zeros of '", name, "': ", zeros.status().message()));
  }
  if (!workload.zeros.emplace(*id, *std::move(zeros)).second)
    return absl::InvalidArgumentError(
        absl::StrCat("known zeros of '", name, "' are given twice"));
  return absl::OkStatus();
}

// `line`: "NAME NAME ...".
absl::Status AddStage(std::string_view line, Workload& workload) {
  std::vector<TensorId> stage;
  const auto refused = [](const std::string& name, const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' of a stage ", what));
  };
  for (const absl::string_view piece : absl::StrSplit(ToAbsl(line), ' ')) {
    const std::string name(piece);
    const std::optional<TensorId> id = workload.graph.Find(name);
    if (!id || workload.graph.tensor(*id).kind != TensorKind::kCompute)
      return refused(name, "is no compute of the graph");
    for (const std::vector<TensorId>& other : workload.stages) {
      if (std::find(other.begin(), other.end(), *id) != other.end())
        return refused(name, "is in another one too");
    }
    if (!stage.empty() && stage.back() >= *id)
      return refused(name, "stands behind a later compute");
    stage.push_back(*id);
  }
  workload.stages.push_back(std::move(stage));
  return absl::OkStatus();
}

absl::Status CheckStages(const Workload& workload) {
  if (workload.stages.empty()) return absl::OkStatus();
  std::set<TensorId> members;
  for (const std::vector<TensorId>& stage : workload.stages)
    members.insert(stage.begin(), stage.end());
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute && members.count(tensor.id) == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("'", tensor.name, "' is in no stage, others are"));
  }
  return absl::OkStatus();
}

}  // namespace

Layout Workload::LayoutOf(TensorId id) const {
  auto it = layouts.find(id);
  return it != layouts.end()
             ? it->second
             : Layout::RowMajor(graph.tensor(id).static_shape());
}

std::string Workload::Text() const {
  WorkloadText text(graph, [&](TensorId id) { return graph.tensor(id).name; });
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) {
      text.AddCompute(tensor.id);
    } else {
      text.AddLeaf(tensor.id);
    }
  }
  text.AddOutputs(graph.outputs());
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant) text.AddConstant(tensor.id);
  }
  for (const auto& [id, layout] : layouts) text.AddLayout(id, layout);
  for (const auto& [id, known] : zeros) text.AddZeros(id, known);
  for (const std::vector<TensorId>& stage : stages) text.AddStage(stage);
  return std::move(text).Text();
}

absl::StatusOr<Workload> ParseWorkload(std::string_view text) {
  std::string graph_text;
  std::set<std::string> constants;
  std::vector<std::pair<std::string, Layout>> layouts;
  std::vector<std::string_view> zeros, stages;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.substr(0, kConstantPrefix.size()) == kConstantPrefix) {
      constants.emplace(line.substr(kConstantPrefix.size()));
    } else if (line.substr(0, kLayoutPrefix.size()) == kLayoutPrefix) {
      std::string_view rest = line.substr(kLayoutPrefix.size());
      size_t space = rest.find(' ');
      if (space == std::string_view::npos)
        return absl::InvalidArgumentError(
            "a layout line needs a tensor and a layout");
      TW_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(rest.substr(space + 1)));
      layouts.emplace_back(std::string(rest.substr(0, space)),
                           std::move(layout));
    } else if (line.substr(0, kZerosPrefix.size()) == kZerosPrefix) {
      zeros.push_back(line.substr(kZerosPrefix.size()));
    } else if (line.substr(0, kStagePrefix.size()) == kStagePrefix) {
      stages.push_back(line.substr(kStagePrefix.size()));
    } else {
      graph_text.append(line);
      graph_text += '\n';
    }
  }
  TW_ASSIGN_OR_RETURN(TensorGraph graph, ParseText(graph_text));
  for (const std::string& name : constants) {
    std::optional<TensorId> id = graph.Find(name);
    if (!id || graph.tensor(*id).kind != TensorKind::kPlaceholder) {
      return absl::InvalidArgumentError(
          absl::StrCat("constant '", name, "' is no placeholder of the graph"));
    }
  }
  Workload workload;
  workload.graph = WithLeaves(graph, constants);
  for (auto& [name, layout] : layouts) {
    std::optional<TensorId> id = workload.graph.Find(name);
    if (!id)
      return absl::InvalidArgumentError(
          absl::StrCat("layout of unknown tensor '", name, "'"));
    if (layout.shape() != workload.graph.tensor(*id).static_shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the layout of '", name, "' does not have its shape"));
    }
    workload.layouts.emplace(*id, std::move(layout));
  }
  for (const std::string_view line : zeros)
    TW_RETURN_IF_ERROR(AddZeros(line, workload));
  for (const std::string_view line : stages)
    TW_RETURN_IF_ERROR(AddStage(line, workload));
  TW_RETURN_IF_ERROR(CheckStages(workload));
  return workload;
}

}  // namespace tilewright::sketch
