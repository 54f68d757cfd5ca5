// Which rule was decided for which compute: what the conditions of rules look
// at. Computes are visited from the last to the first.
#ifndef TILEWRIGHT_SKETCH_DERIVATION_SKETCH_STATE_H_
#define TILEWRIGHT_SKETCH_DERIVATION_SKETCH_STATE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/derivation/compute_traits.h"
#include "sketch/derivation/sketch_rule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

struct AppliedRule {
  const SketchRule* rule;
  std::string variant;  // empty if it has none
};

class SketchState {
 public:
  // Both must outlive it.
  SketchState(const Workload& workload, const DeviceSpec& spec);

  const Workload& workload() const { return workload_; }
  const DeviceSpec& spec() const { return spec_; }
  // That outputs need, in the order in which rules visit them.
  const std::vector<TensorId>& computes() const { return computes_; }
  const ComputeTraits& traits(TensorId id) const { return traits_.at(id); }
  bool IsOutput(TensorId id) const;

  // REQUIRES: `applied.rule` outlives it; all computes behind `id` have one.
  void Apply(TensorId id, AppliedRule applied);
  const AppliedRule& applied(TensorId id) const { return applied_.at(id); }

  // The computes that read it once those that are inlined are.
  std::vector<TensorId> Readers(TensorId id) const;
  // Its only reader, which reads it element by element and may be fused with
  // it: computes between them are inlined and elementwise too.
  std::optional<TensorId> MatchedReader(TensorId id) const;
  // Whether some compute's rule writes this one too.
  bool IsFused(TensorId id) const { return fused_.count(id) != 0; }
  // The reader that the compute's rule fuses it with, if it does.
  std::optional<TensorId> FusedReader(TensorId id) const;

 private:
  const Workload& workload_;
  const DeviceSpec& spec_;
  const std::vector<std::vector<TensorId>>& consumers_;
  std::vector<TensorId> computes_;
  std::map<TensorId, ComputeTraits> traits_;
  std::map<TensorId, AppliedRule> applied_;
  std::map<TensorId, TensorId> fused_;  // reader -> what is fused with it
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_SKETCH_STATE_H_
