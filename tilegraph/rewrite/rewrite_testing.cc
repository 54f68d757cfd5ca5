#include "tilegraph/rewrite/rewrite_testing.h"

#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {

TensorGraph Parsed(const std::string& text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_THAT(graph, IsOk()) << text;
  return graph.ok() ? *std::move(graph) : TensorGraph();
}

void ExpectSameResults(const TensorGraph& graph,
                       const RewrittenGraph& rewritten, uint64_t seed) {
  ASSERT_THAT(VerifyGraph(rewritten.graph), IsOk());
  const auto inputs = RandomInputs(graph, seed, /*exact_integers=*/true);
  std::map<TensorId, HostTensor> renamed;
  for (const auto& [id, value] : inputs)
    renamed.emplace(rewritten.ids[id], value);
  const auto before = Interpreter::Create(graph, inputs, {});
  const auto after = Interpreter::Create(rewritten.graph, renamed, {});
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  ASSERT_EQ(graph.outputs().size(), rewritten.graph.outputs().size());
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const auto want = (*before)->Evaluate(graph.outputs()[i]);
    const auto got = (*after)->Evaluate(rewritten.graph.outputs()[i]);
    ASSERT_THAT(want, IsOk());
    ASSERT_THAT(got, IsOk());
    for (int64_t e = 0; e < want->num_elements(); ++e)
      ASSERT_EQ(got->Get(e).f, want->Get(e).f)
          << "element " << e << " of output " << i << ", seed " << seed;
  }
}

}  // namespace tilewright
