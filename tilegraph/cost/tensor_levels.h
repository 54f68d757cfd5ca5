// Where tensors lie between the kernels that write and read them: in the
// innermost cache that still holds them after what else comes by.
#ifndef TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_
#define TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_

#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/reuse_distance.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

class TensorLevels {
 public:
  // All must outlive it.
  TensorLevels(const TensorGraph& graph, const Plan& plan,
               const DeviceSpec& spec);

  // The level of the spec: of what the group computes, where its next reader
  // finds it; of what it reads, where it does itself.
  int Of(TensorId id, const Group& group) const;
  // How it lies there; null: plain.
  const Layout* LayoutOf(TensorId id) const;
  // The dimension along which neighbours in memory are neighbours; -1 for a
  // scalar.
  int VectorDim(TensorId id) const;

  const Plan& plan() const { return plan_; }

 private:
  const TensorGraph& graph_;
  const Plan& plan_;
  std::vector<double> held_bytes_;  // by level
  const ReuseDistances distances_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_
