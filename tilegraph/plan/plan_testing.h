// What tests of plans have in common.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_PLAN_TESTING_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_PLAN_TESTING_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {

// An empty graph, and a failure, if the text is wrong.
inline TensorGraph Parsed(std::string_view text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : TensorGraph();
}

// The names of the members of every group.
inline std::vector<std::vector<std::string>> GroupNames(
    const TensorGraph& graph, const Plan& plan) {
  std::vector<std::vector<std::string>> names;
  for (const Group& group : plan.groups) {
    names.emplace_back();
    for (const TensorId id : group.members)
      names.back().push_back(graph.tensor(id).name);
  }
  return names;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_PLAN_TESTING_H_
