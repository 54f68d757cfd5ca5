// Where tensors lie between the kernels that write and read them: in the
// innermost cache that still holds them after what else comes by, of this run
// and, with time, of others.
#ifndef TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_
#define TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_

#include <utility>
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
  // Whether a level loses with time what it holds (MemoryLevel::retention_ns).
  bool ForgetWithTime() const;
  // What each group of the plan takes, in their order. Until then no time
  // passes.
  void SetGroupSeconds(std::vector<double> group_seconds) {
    distances_.SetGroupSeconds(std::move(group_seconds));
  }

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
  // What a level keeps of what was used last: so many bytes if it was just
  // now, and none after so long. Others bring in as much each second as fills
  // it in that time.
  struct Kept {
    double bytes, seconds;
    bool Holds(const ReuseDistance& distance) const {
      return distance.bytes <= bytes * (1 - distance.seconds / seconds);
    }
  };
  static std::vector<Kept> KeptBy(const DeviceSpec& spec);
  double MostBytes() const;

  const TensorGraph& graph_;
  const Plan& plan_;
  const std::vector<Kept> kept_;  // by level
  ReuseDistances distances_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_TENSOR_LEVELS_H_
