#include "sketch/derivation/sketch_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "tilegraph/analysis/access.h"

namespace tilewright::sketch {

SketchState::SketchState(const Workload& workload, const DeviceSpec& spec)
    : workload_(workload), spec_(spec), consumers_(workload.graph.Consumers()) {
  const TensorGraph& graph = workload.graph;
  std::vector<bool> needed(graph.size(), false);
  for (const TensorId id : graph.outputs()) needed[id] = true;
  for (TensorId id = graph.size() - 1; id >= 0; --id) {
    if (!needed[id] || graph.tensor(id).kind != TensorKind::kCompute) continue;
    for (const TensorId input : graph.Inputs(id)) needed[input] = true;
    computes_.push_back(id);
    traits_[id] = TraitsOf(graph, id);
  }
}

bool SketchState::IsOutput(TensorId id) const {
  const auto& outputs = workload_.graph.outputs();
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

void SketchState::Apply(TensorId id, AppliedRule applied) {
  if (applied.rule->fuses) {
    const std::optional<TensorId> reader = MatchedReader(id);
    TW_CHECK(reader.has_value()) << applied.rule->name;
    fused_[*reader] = id;
  }
  applied_.emplace(id, std::move(applied));
}

std::vector<TensorId> SketchState::Readers(TensorId id) const {
  std::set<TensorId> readers;
  for (const TensorId reader : consumers_[id]) {
    const auto it = applied_.find(reader);
    if (it == applied_.end()) continue;  // nothing needs it
    if (!it->second.rule->inlines) {
      readers.insert(reader);
      continue;
    }
    for (const TensorId behind : Readers(reader)) readers.insert(behind);
  }
  return {readers.begin(), readers.end()};
}

std::optional<TensorId> SketchState::MatchedReader(TensorId id) const {
  if (IsOutput(id)) return std::nullopt;
  const std::vector<TensorId> readers = Readers(id);
  if (readers.size() != 1 || IsFused(readers[0]) ||
      !applied(readers[0]).rule->fusible ||
      workload_.graph.tensor(readers[0]).compute.combiner)
    return std::nullopt;
  // Every step on the way there is elementwise.
  std::vector<TensorId> open = {id};
  while (!open.empty()) {
    const TensorId at = open.back();
    open.pop_back();
    for (const TensorId next : consumers_[at]) {
      if (applied_.count(next) == 0) continue;
      if (!ReadsElementwise(workload_.graph, next, at)) return std::nullopt;
      if (next != readers[0]) open.push_back(next);
    }
  }
  return readers[0];
}

std::optional<TensorId> SketchState::FusedReader(TensorId id) const {
  for (const auto& [reader, producer] : fused_) {
    if (producer == id) return reader;
  }
  return std::nullopt;
}

}  // namespace tilewright::sketch
