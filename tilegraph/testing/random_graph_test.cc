#include "tilegraph/testing/random_graph.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

TEST(RandomGraphTest, ThereAreElevenTopologiesAndEveryAssignmentOfKinds) {
  EXPECT_EQ(AllTopologies().size(), 11u);
  // One compute: 11. Two: 11^2, twice. Three: second reads none or the first;
  // the third none, one, the other (11^3 each), or both (3 kinds).
  EXPECT_EQ(AllGraphShapes().size(), 11u + 2 * 121 + 2 * (3 * 1331 + 121 * 3));
}

TEST(RandomGraphTest, EveryShapeGivesAGraphThatVerifiesAndKeepsItsTopology) {
  const std::vector<GraphShape> shapes = AllGraphShapes();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const TensorGraph graph = BuildGraph(shapes[i], i);
    ASSERT_THAT(VerifyGraph(graph), IsOk()) << i << "\n" << PrintText(graph);
    std::vector<TensorId> computes;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) computes.push_back(tensor.id);
    }
    ASSERT_EQ(computes.size(), shapes[i].kinds.size());
    for (size_t c = 0; c < computes.size(); ++c) {
      const std::vector<TensorId> inputs = graph.Inputs(computes[c]);
      for (size_t other = 0; other < c; ++other) {
        const bool expected =
            std::count(shapes[i].reads[c].begin(), shapes[i].reads[c].end(),
                       static_cast<int>(other)) > 0;
        EXPECT_EQ(std::count(inputs.begin(), inputs.end(), computes[other]) > 0,
                  expected)
            << i << "\n"
            << PrintText(graph);
      }
    }
  }
}

TEST(RandomGraphTest, RandomGraphsVerifyStaySmallAndEvaluate) {
  RandomGraphOptions options;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const TensorGraph graph = RandomGraph(seed, options);
    ASSERT_THAT(VerifyGraph(graph), IsOk()) << seed << "\n" << PrintText(graph);
    ASSERT_FALSE(graph.outputs().empty());
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder)
        EXPECT_LE(tensor.num_elements(), options.max_elements);
    }
    auto interpreter =
        Interpreter::Create(graph, RandomInputs(graph, seed, false), {});
    ASSERT_THAT(interpreter, IsOk());
    for (const TensorId output : graph.outputs()) {
      ASSERT_THAT((*interpreter)->Evaluate(output), IsOk()) << seed << "\n"
                                                            << PrintText(graph);
    }
  }
}

TEST(RandomGraphTest, TheSameSeedGivesTheSameGraphAndOthersDiffer) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = PrintText(RandomGraph(seed));
    EXPECT_EQ(text, PrintText(RandomGraph(seed)));
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 195u);
}

// Every value computed in double is an integer that the tensor's dtype holds:
// any order of summation gives the same bits.
TEST(RandomGraphTest, ExactGraphsComputeOnlyExactIntegers) {
  RandomGraphOptions options;
  options.exact_only = true;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const TensorGraph graph = RandomGraph(seed, options);
    auto interpreter =
        Interpreter::Create(graph, RandomInputs(graph, seed, true), {});
    auto rounded = Interpreter::Create(graph, RandomInputs(graph, seed, true),
                                       {/*round_floats=*/true});
    ASSERT_THAT(interpreter, IsOk());
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind != TensorKind::kCompute || !IsFloat(tensor.dtype))
        continue;
      TW_ASSERT_OK_AND_ASSIGN(const HostTensor a,
                              (*interpreter)->Evaluate(tensor.id));
      TW_ASSERT_OK_AND_ASSIGN(const HostTensor b,
                              (*rounded)->Evaluate(tensor.id));
      for (int64_t i = 0; i < a.num_elements(); ++i) {
        const double value = a.Get(i).f;
        EXPECT_EQ(value, std::nearbyint(value)) << seed << ": " << value << "\n"
                                                << PrintText(graph);
        EXPECT_EQ(value, b.Get(i).f) << seed << "\n" << PrintText(graph);
      }
    }
  }
}

TEST(RandomGraphTest, NothingBoundsLessThanTheInterpreterComputes) {
  RandomGraphOptions options;
  options.exact_only = true;
  options.f32_only = true;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const TensorGraph graph = RandomGraph(seed, options);
    const double bound = MagnitudeBound(graph, 3);
    auto interpreter =
        Interpreter::Create(graph, RandomInputs(graph, seed, true), {});
    ASSERT_THAT(interpreter, IsOk());
    for (const TensorId output : graph.outputs()) {
      TW_ASSERT_OK_AND_ASSIGN(const HostTensor value,
                              (*interpreter)->Evaluate(output));
      for (const float element : value.as<float>()) {
        if (std::isfinite(element)) EXPECT_LE(std::fabs(element), bound);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
