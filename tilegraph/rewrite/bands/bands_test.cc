#include "tilegraph/rewrite/bands/bands.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Two convolutions with a padding before each, and a ReLU between them.
constexpr char kConvolutions[] = R"(
X: f32[1, 2, 12, 5] = placeholder
V: f32[3, 2, 3, 3] = placeholder
W: f32[2, 3, 3, 3] = placeholder
P: f32[1, 2, 14, 7] = compute (n: 1, c: 2, h: 14, w: 7) { select(h - 1 >= 0 && h - 1 < 12 && (w - 1 >= 0 && w - 1 < 5), X[n, c, h - 1, w - 1], 0.0) }
C: f32[1, 3, 12, 5] = compute (n: 1, o: 3, h: 12, w: 5) reduce (c: 2, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * V[o, c, i, j] }
R: f32[1, 3, 12, 5] = compute (n: 1, o: 3, h: 12, w: 5) { max(C[n, o, h, w], 0.0) }
Q: f32[1, 3, 14, 7] = compute (n: 1, c: 3, h: 14, w: 7) { select(h - 1 >= 0 && h - 1 < 12 && (w - 1 >= 0 && w - 1 < 5), R[n, c, h - 1, w - 1], 0.0) }
D: f32[1, 2, 12, 5] = compute (n: 1, o: 2, h: 12, w: 5) reduce (c: 3, i: 3, j: 3) sum:f32 { Q[n, c, h + i, w + j] * W[o, c, i, j] }
return D
)";

std::vector<TensorId> Named(const TensorGraph& graph,
                            const std::vector<std::string>& names) {
  std::vector<TensorId> ids;
  for (const std::string& name : names) ids.push_back(*graph.Find(name));
  return ids;
}

std::vector<int64_t> ShapeOf(const TensorGraph& graph, const char* name) {
  const std::optional<TensorId> id = graph.Find(name);
  return id ? graph.tensor(*id).static_shape() : std::vector<int64_t>();
}

TEST(BandsTest, ReadsAsAnExample) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kConvolutions);
  ASSERT_THAT(graph, IsOk());
  const BandedPart part{Named(*graph, {"P", "C", "R", "Q", "D"}), /*dim=*/2,
                        /*rows=*/4};
  const absl::StatusOr<RewrittenGraph> bands = MakeInBands(*graph, {part});
  ASSERT_THAT(bands, IsOk());
  ASSERT_THAT(VerifyGraph(bands->graph), IsOk());
  using Shape = std::vector<int64_t>;
  // Rows 0 to 4 of D need 6 of Q, 5 of which are rows of R; these need 7 of P.
  EXPECT_EQ(ShapeOf(bands->graph, "Q.0"), (Shape{1, 3, 6, 7}));
  EXPECT_EQ(ShapeOf(bands->graph, "R.0"), (Shape{1, 3, 5, 5}));
  EXPECT_EQ(ShapeOf(bands->graph, "P.0"), (Shape{1, 2, 7, 7}));
  EXPECT_EQ(ShapeOf(bands->graph, "X.in0"), (Shape{1, 2, 6, 5}));
  // In the middle all rows are there.
  EXPECT_EQ(ShapeOf(bands->graph, "R.1"), (Shape{1, 3, 6, 5}));
  EXPECT_EQ(ShapeOf(bands->graph, "X.in1"), (Shape{1, 2, 8, 5}));
  const std::optional<Concatenation> whole =
      AsConcatenation(bands->graph, *bands->graph.Find("D"));
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->axis, 2);
  EXPECT_EQ(whole->parts.size(), 3);

  const absl::StatusOr<BandedCost> cost = CostOfBands(*graph, part);
  ASSERT_THAT(cost, IsOk());
  // X: 6 + 8 + 6 rows of 2 x 5; V and W whole, three times; D once.
  EXPECT_EQ(cost->moved_bytes, 4 * (20 * 10 + 3 * (54 + 54) + 120));
}

// The part of `graph` that ends in `output`: what only members read joins, or
// does not, as drawn.
BandedPart RandomPart(const TensorGraph& graph, TensorId output,
                      Random& random) {
  const std::vector<std::vector<TensorId>>& consumers = graph.Consumers();
  const std::set<TensorId> outputs(graph.outputs().begin(),
                                   graph.outputs().end());
  std::set<TensorId> members = {output};
  for (TensorId id = output - 1; id >= 0; --id) {
    if (graph.tensor(id).kind != TensorKind::kCompute || outputs.count(id) ||
        consumers[id].empty() || !random.Bernoulli(0.8))
      continue;
    const bool inside =
        std::all_of(consumers[id].begin(), consumers[id].end(),
                    [&](TensorId reader) { return members.count(reader) > 0; });
    if (inside) members.insert(id);
  }
  BandedPart part;
  part.members.assign(members.begin(), members.end());
  const std::vector<int64_t> shape = graph.tensor(output).static_shape();
  part.dim = static_cast<int>(random.Index(shape.size()));
  part.rows = random.UniformInt((shape[part.dim] + 4) / 5, shape[part.dim]);
  return part;
}

std::string Bytes(const HostTensor& tensor) {
  return std::string(tensor.data(), tensor.size_bytes());
}

std::vector<HostTensor> Outputs(
    const TensorGraph& graph,
    const std::map<std::string, HostTensor>& inputs_by_name) {
  std::map<TensorId, HostTensor> inputs;
  for (const auto& [name, value] : inputs_by_name)
    inputs.insert({*graph.Find(name), value});
  const auto interpreter = Interpreter::Create(graph, std::move(inputs), {});
  EXPECT_THAT(interpreter, IsOk());
  std::vector<HostTensor> outputs;
  for (const TensorId id : graph.outputs()) {
    absl::StatusOr<HostTensor> output = (*interpreter)->Evaluate(id);
    EXPECT_THAT(output, IsOk());
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

TEST(BandsTest, EveryValueStaysWhatItWas) {
  Random random(11);
  int64_t bands_seen = 0, members_seen = 0, graphs = 0, equal = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const TensorGraph graph = BuildGraph(
        RandomChain(seed, static_cast<int>(random.UniformInt(1, 8)), 0.2),
        seed);
    const TensorId output = graph.outputs().back();
    if (graph.tensor(output).shape.empty() ||
        graph.tensor(output).kind != TensorKind::kCompute)
      continue;
    const BandedPart part = RandomPart(graph, output, random);
    const absl::StatusOr<RewrittenGraph> bands = MakeInBands(graph, {part});
    ASSERT_THAT(bands, IsOk());
    ASSERT_THAT(VerifyGraph(bands->graph), IsOk());
    std::map<std::string, HostTensor> inputs;
    for (auto& [id, value] : RandomInputs(graph, seed, false))
      inputs.insert({graph.tensor(id).name, std::move(value)});
    const std::vector<HostTensor> wanted = Outputs(graph, inputs);
    const std::vector<HostTensor> given = Outputs(bands->graph, inputs);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(Bytes(given[i]), Bytes(wanted[i]));
    const absl::StatusOr<BandedCost> cost = CostOfBands(graph, part);
    ASSERT_THAT(cost, IsOk());
    int64_t moved_bytes = 0;
    for (const Tensor& tensor : bands->graph.tensors()) {
      if (!IsBandMove(tensor)) continue;
      moved_bytes += tensor.num_bytes();
      bands_seen += tensor.hint.role() == ComputeRole::kBandOut;
    }
    // Tensors that only guarded loads read, none of them in the band, are not
    // moved.
    EXPECT_GE(cost->moved_bytes, moved_bytes);
    equal += cost->moved_bytes == moved_bytes;
    ++graphs;
    members_seen += static_cast<int64_t>(part.members.size());
  }
  EXPECT_GT(bands_seen, 500);
  EXPECT_GT(members_seen, 500);
  EXPECT_GT(equal, graphs * 9 / 10);
}

TEST(BandsTest, RefusesWhatIsNoPart) {
  const absl::StatusOr<TensorGraph> graph = ParseText(kConvolutions);
  ASSERT_THAT(graph, IsOk());
  const auto made = [&](const std::vector<std::string>& names, int dim) {
    return MakeInBands(*graph, {{Named(*graph, names), dim, 4}}).status();
  };
  EXPECT_THAT(made({"C", "Q"}, 2), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("C is in bands")));
  EXPECT_THAT(made({"X"}, 2), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("computes nothing")));
  EXPECT_THAT(made({"D"}, 4), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("dimension 4")));
}

}  // namespace
}  // namespace tilewright
