// Helpers for tests of fused groups: a plan of a graph, fused for one machine.
#ifndef TILEWRIGHT_TILEGRAPH_TESTING_CONNECT_TESTING_H_
#define TILEWRIGHT_TILEGRAPH_TESTING_CONNECT_TESTING_H_

#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "gtest/gtest.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

class ConnectTest : public testing::Test {
 protected:
  void SetUp() override;

  // Plans `graph` and fuses groups of it; remembers what was evaluated.
  Plan Connect(const TensorGraph& graph, const ConnectPlanOptions& options);

  static std::vector<std::string> Names(const TensorGraph& graph,
                                        const std::vector<TensorId>& ids);
  // Why what was evaluated is not fused, one line each.
  std::string Reasons() const;

  DeviceSpec spec_;           // cpu_x86_64_v4
  ConnectPlanOptions force_;  // fuses whatever can be
  ConnectedGroups connected_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TESTING_CONNECT_TESTING_H_
