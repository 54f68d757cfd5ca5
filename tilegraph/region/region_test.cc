#include "tilegraph/region/region.h"

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright {
namespace {

using Index = std::vector<int64_t>;
constexpr int kOuter = 100;  // Var(kOuter + i) is the tile index of axis i

Expr I(int64_t value) { return Expr::Int(value); }
Expr V(int axis) {
  return Expr::Var(axis, std::string(1, static_cast<char>('a' + axis)));
}
Expr B(Op op, Expr a, Expr b) { return Expr::Make(op, {a, b}); }
Expr And(Expr a, Expr b) { return B(Op::kAnd, a, b); }
Expr InBounds(Expr x, int64_t extent) {
  return And(B(Op::kGe, x, I(0)), B(Op::kLt, x, I(extent)));
}
Expr Select(Expr c, Expr a, Expr b) {
  return Expr::Make(Op::kSelect, {c, a, b});
}

// One compute over placeholders: the tensor under test is the last one.
struct Case {
  std::string claim;
  std::vector<Index> inputs;  // shapes of tensors 0, 1, ... (f32; the last one
                              // i64 if `indexed`)
  Index spatial, reduce;
  std::function<Expr(const TensorGraph&)> body;
  bool exact = true;  // whether every region at every tiling must be exact
  bool indexed = false;
};

TensorGraph Build(const Case& c) {
  TensorGraph graph;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    std::vector<Dim> shape(c.inputs[i].begin(), c.inputs[i].end());
    bool last = i + 1 == c.inputs.size();
    graph.AddPlaceholder("in" + std::to_string(i),
                         c.indexed && last ? DType::kInt64 : DType::kFloat32,
                         shape);
  }
  Compute compute;
  for (int64_t e : c.spatial)
    compute.axes.push_back(
        {std::string(1, static_cast<char>('a' + compute.axes.size())), e});
  for (int64_t e : c.reduce) {
    compute.reduce_axes.push_back(
        {std::string(1, static_cast<char>('a' + compute.axes.size() +
                                          compute.reduce_axes.size())),
         e});
  }
  if (!c.reduce.empty())
    compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  compute.body = {c.body(graph)};
  graph.AddCompute("out", DType::kFloat32, compute);
  return graph;
}

// Calls fn at every index of a box.
void ForEach(const Index& extents,
             const std::function<void(const Index&)>& fn) {
  Index at(extents.size(), 0);
  for (;;) {
    fn(at);
    size_t d = extents.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

using Touched = std::map<TensorId, std::set<Index>>;

// The elements of a region inside its tensor, at given tile indices.
std::set<Index> Elements(const Region& region, const Index& shape,
                         const Index& outer) {
  Index extents;
  for (const RegionDim& dim : region) extents.push_back(dim.extent);
  std::set<Index> elements;
  ForEach(extents, [&](const Index& at) {
    Index element;
    for (size_t d = 0; d < region.size(); ++d) {
      int64_t base =
          EvalIndex(region[d].base, [&](int id) { return outer[id - kOuter]; });
      element.push_back(base + at[d] * region[d].step);
      if (element.back() < 0 || element.back() >= shape[d]) return;
    }
    elements.insert(element);
  });
  return elements;
}

bool Exact(const Region& region) {
  return std::all_of(region.begin(), region.end(),
                     [](const RegionDim& dim) { return dim.exact; });
}

// Collects what the body reads while its axes run over the tile at `outer`.
// Tensors of dtype i64 hold (7 · first index) mod 5.
void Touch(const TensorGraph& graph, TensorId id, const Region& axes,
           const Index& outer, Touched& touched) {
  Index extents;
  for (const RegionDim& axis : axes) extents.push_back(axis.extent);
  ForEach(extents, [&](const Index& at) {
    Index point;
    for (size_t d = 0; d < axes.size(); ++d) {
      point.push_back(
          EvalIndex(axes[d].base, [&](int v) { return outer[v - kOuter]; }) +
          at[d] * axes[d].step);
    }
    for (const Expr& body : graph.tensor(id).compute.body) {
      EvalIndex(
          body, point, [&](const Expr& load, absl::Span<const int64_t> index) {
            touched[load.source()].insert(Index(index.begin(), index.end()));
            return load.dtype() == DType::kInt64 ? index[0] * 7 % 5 : 0;
          });
    }
  });
}

// Checks one tiling at every tile; gives whether all regions were exact.
bool CheckTiling(const TensorGraph& graph, const Index& tile,
                 const Index& step) {
  const TensorId id = graph.size() - 1;
  const Compute& compute = graph.tensor(id).compute;
  Index tiles;
  Region axes;
  for (size_t i = 0; i < tile.size(); ++i) {
    const Axis& axis = i < compute.axes.size()
                           ? compute.axes[i]
                           : compute.reduce_axes[i - compute.axes.size()];
    tiles.push_back(axis.extent.value() / tile[i] / step[i]);
    axes.push_back(
        {Expr::Var(kOuter + static_cast<int>(i), "o" + std::to_string(i)) *
             I(tile[i] * step[i]),
         tile[i], step[i], true, ""});
  }
  RangeOf ranges = [&](int v) { return Range{0, tiles[v - kOuter] - 1}; };
  auto regions = PropagateOne(graph, id, axes, ranges);
  EXPECT_TRUE(regions.ok()) << regions.status();
  bool exact = true;
  ForEach(tiles, [&](const Index& outer) {
    Touched touched;
    Touch(graph, id, axes, outer, touched);
    for (const auto& [source, region] : *regions) {
      std::set<Index> claimed =
          Elements(region, graph.tensor(source).static_shape(), outer);
      const std::set<Index>& read = touched[source];
      exact = exact && Exact(region);
      if (Exact(region)) {
        EXPECT_EQ(claimed, read) << graph.tensor(id).compute.body[0].ToString()
                                 << ": " << ToString(region);
      } else {
        EXPECT_TRUE(std::includes(claimed.begin(), claimed.end(), read.begin(),
                                  read.end()))
            << graph.tensor(id).compute.body[0].ToString() << ": "
            << ToString(region);
      }
    }
  });
  return exact;
}

// All tilings whose tiles divide the extents.
bool CheckAllTilings(const TensorGraph& graph) {
  const Compute& compute = graph.tensor(graph.size() - 1).compute;
  Index extents;
  for (const auto* list : {&compute.axes, &compute.reduce_axes}) {
    for (const Axis& axis : *list) extents.push_back(axis.extent.value());
  }
  bool exact = true;
  ForEach(extents, [&](const Index& at) {
    Index tile, ones;
    for (size_t i = 0; i < at.size(); ++i) {
      tile.push_back(at[i] + 1);
      ones.push_back(1);
      if (extents[i] % tile[i] != 0) return;
    }
    exact = CheckTiling(graph, tile, ones) && exact;
  });
  return exact;
}

class RegionTable : public testing::TestWithParam<Case> {};

TEST_P(RegionTable, EqualsWhatTheBodyReadsAtEveryTiling) {
  bool exact = CheckAllTilings(Build(GetParam()));
  EXPECT_EQ(exact, GetParam().exact);
}

std::vector<Case> Cases() {
  auto L = [](const TensorGraph& g, TensorId t, std::vector<Expr> index) {
    return g.Load(t, std::move(index));
  };
  Expr a = V(0), b = V(1), c = V(2), d = V(3);
  Expr zero = Expr::Float(0);
  return {
      {"MatrixProduct",
       {{6, 4}, {4, 6}},
       {6, 6},
       {4},
       [=](auto& g) {
         return B(Op::kMul, L(g, 0, {a, c}), L(g, 1, {c, b}));
       }},
      {"ConvolutionOfStrideOne",
       {{10}, {3}},
       {8},
       {3},
       [=](auto& g) { return B(Op::kMul, L(g, 0, {a + b}), L(g, 1, {b})); }},
      {"PaddedConvolution",
       {{8}},
       {8},
       {3},
       [=](auto& g) {
         return Select(InBounds(a + b - I(1), 8), L(g, 0, {a + b - I(1)}),
                       zero);
       }},
      {"StrideTwoKernelThree",
       {{17}},
       {8},
       {3},
       [=](auto& g) { return L(g, 0, {a * I(2) + b}); }},
      {"StrideTwoKernelOne",
       {{15}},
       {8},
       {},
       [=](auto& g) { return L(g, 0, {a * I(2)}); }},
      {"StrideThreeKernelTwoHasGaps",
       {{12}},
       {4},
       {2},
       [=](auto& g) { return L(g, 0, {a * I(3) + b}); },
       false},
      {"DilationThreeHasGaps",
       {{14}},
       {4},
       {3},
       [=](auto& g) { return L(g, 0, {a + b * I(5)}); },
       false},
      {"Transpose",
       {{4, 6}},
       {6, 4},
       {},
       [=](auto& g) {
         return L(g, 0, {b, a});
       }},
      {"Reversed",
       {{12}},
       {12},
       {},
       [=](auto& g) { return L(g, 0, {I(11) - a}); }},
      {"Broadcast",
       {{1, 6}},
       {4, 6},
       {},
       [=](auto& g) {
         return L(g, 0, {I(0), b});
       }},
      {"HeadSplit",
       {{4, 6}},
       {4, 2, 3},
       {},
       [=](auto& g) {
         return L(g, 0, {a, b * I(3) + c});
       }},
      {"NearestUpsampling",
       {{4}},
       {8},
       {},
       [=](auto& g) { return L(g, 0, {FloorDiv(a, I(2))}); }},
      {"PixelShuffle",
       {{4, 3, 3}},
       {6, 6},
       {},
       [=](auto& g) {
         return L(g, 0,
                  {FloorMod(a, I(2)) * I(2) + FloorMod(b, I(2)),
                   FloorDiv(a, I(2)), FloorDiv(b, I(2))});
       },
       false},
      {"Concatenation",
       {{4}, {6}},
       {10},
       {},
       [=](auto& g) {
         return Select(B(Op::kLt, a, I(4)), L(g, 0, {a}), L(g, 1, {a - I(4)}));
       }},
      {"TriangleIsAHull",
       {{6, 6}},
       {6, 6},
       {},
       [=](auto& g) {
         return Select(B(Op::kGe, a, b), L(g, 0, {a, b}), zero);
       },
       false},
      {"DiagonalIsAHull",
       {{6, 6}},
       {6},
       {},
       [=](auto& g) {
         return L(g, 0, {a, a});
       },
       false},
      {"GatherReadsTheWholeDimension",
       {{5, 4}, {6}},
       {6, 4},
       {},
       [=](auto& g) {
         return L(g, 0, {g.Load(1, {a}), b});
       },
       false,
       true},
      {"TwoNeighbours",
       {{9}},
       {8},
       {},
       [=](auto& g) { return B(Op::kAdd, L(g, 0, {a}), L(g, 0, {a + I(1)})); }},
      {"FarNeighboursLeaveAGap",
       {{16}},
       {8},
       {},
       [=](auto& g) { return B(Op::kAdd, L(g, 0, {a}), L(g, 0, {a + I(8)})); },
       false},
      {"ClampedEdge",
       {{8}},
       {8},
       {3},
       [=](auto& g) {
         return L(g, 0, {B(Op::kMin, B(Op::kMax, a + b - I(1), I(0)), I(7))});
       },
       false},
      {"TransposedConvolution",
       {{5}},
       {9},
       {3},
       [=](auto& g) {
         Expr x = a + b - I(1);
         Expr hit = And(B(Op::kEq, FloorMod(x, I(2)), I(0)),
                        InBounds(FloorDiv(x, I(2)), 5));
         return Select(hit, L(g, 0, {FloorDiv(x, I(2))}), zero);
       },
       false},
  };
}

INSTANTIATE_TEST_SUITE_P(Cases, RegionTable, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.claim; });

TEST(Region, ReshapeIsExactWhenTilesAreWholeDigits) {
  // [6, 4] read as [24]: a tile of whole rows is exact, one that crosses rows a
  // hull.
  Case c{"", {{6, 4}}, {24}, {}, [](auto& g) {
           return g.Load(0, {FloorDiv(V(0), I(4)), FloorMod(V(0), I(4))});
         }};
  TensorGraph graph = Build(c);
  for (int64_t tile : {1, 2, 4, 8, 12, 24})
    EXPECT_TRUE(CheckTiling(graph, {tile}, {1})) << tile;
  for (int64_t tile : {3, 6})
    EXPECT_FALSE(CheckTiling(graph, {tile}, {1})) << tile;
}

TEST(Region, HeadSplitIsExactAtEveryTile) {
  Case c{"", {{4, 6}}, {4, 2, 3}, {}, [](auto& g) {
           return g.Load(0, {V(0), V(1) * I(3) + V(2)});
         }};
  TensorGraph graph = Build(c);
  EXPECT_TRUE(CheckTiling(graph, {2, 2, 3}, {1, 1, 1}));
  EXPECT_TRUE(CheckTiling(graph, {2, 1, 3}, {1, 1, 1}));
  EXPECT_TRUE(CheckTiling(graph, {2, 1, 1}, {1, 1, 1}));
  EXPECT_TRUE(CheckTiling(graph, {4, 2, 1}, {1, 1, 1}));  // every third element
}

TEST(Region, StridedTilesStayStrided) {
  Case c{
      "", {{24}}, {12}, {}, [](auto& g) { return g.Load(0, {V(0) * I(2)}); }};
  EXPECT_TRUE(CheckTiling(Build(c), {3}, {2}));
  EXPECT_TRUE(CheckTiling(Build(c), {2}, {3}));
}

TEST(RegionRandom, ContainsWhatTheBodyReadsAndIsExactWhereItSaysSo) {
  std::mt19937_64 random(5);
  auto draw = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int exact = 0;
  for (int i = 0; i < 400; ++i) {
    const int rank = 1 + static_cast<int>(draw(3));
    Case c;
    for (int d = 0; d < rank; ++d)
      c.spatial.push_back(Index{2, 3, 4, 6, 8}[draw(5)]);
    std::function<Expr(int)> index = [&](int depth) -> Expr {
      if (depth == 0) return V(static_cast<int>(draw(rank)));
      Expr x = index(depth - 1);
      switch (draw(6)) {
        case 0:
          return FloorDiv(x, I(2 + draw(4)));
        case 1:
          return FloorMod(x, I(2 + draw(4)));
        case 2:
          return x * I(draw(6) - 1);
        case 3:
          return x + index(depth - 1) * I(1 + draw(4));
        case 4:
          return x + I(draw(5) - 2);
        default:
          return x;
      }
    };
    std::vector<Expr> indices;
    Index shape;
    Expr guard = Expr::Int(1, DType::kBool);
    for (int d = 0; d < 1 + draw(2); ++d) {
      indices.push_back(index(static_cast<int>(draw(4))));
      shape.push_back(1 + draw(30));
      guard = And(guard, InBounds(indices[d], shape[d]));
    }
    c.inputs = {shape};
    c.body = [&](auto& g) {
      return Select(guard, g.Load(0, indices), Expr::Float(0));
    };
    exact += CheckAllTilings(Build(c));
    if (HasFailure()) break;
  }
  EXPECT_GT(exact, 100);  // a hull for everything would be easy
}

TEST(Propagate, FollowsAChainOfComputes) {
  // B[i] = A[i] + A[i + 1]; C[i] = B[2 i] reduced over 3 taps.
  TensorGraph graph;
  graph.AddPlaceholder("A", DType::kFloat32, {20});
  Compute b;
  b.axes = {{"i", 19}};
  b.body = {B(Op::kAdd, graph.Load(0, {V(0)}), graph.Load(0, {V(0) + I(1)}))};
  TensorId tb = graph.AddCompute("B", DType::kFloat32, b);
  Compute c;
  c.axes = {{"i", 8}};
  c.reduce_axes = {{"k", 3}};
  c.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  c.body = {graph.Load(tb, {V(0) * I(2) + V(1)})};
  TensorId tc = graph.AddCompute("C", DType::kFloat32, c);
  RangeOf ranges = [](int) { return Range{0, 1}; };
  Expr base = Expr::Var(kOuter, "m0") * I(4);
  auto regions =
      Propagate(graph, {{tc, {{base, 4, 1, true, ""}}}}, {tb, tc}, {}, ranges);
  ASSERT_TRUE(regions.ok()) << regions.status();
  EXPECT_EQ(ToString(regions->at(tb)), "[m0 * 8 + 0..9]");
  EXPECT_EQ(ToString(regions->at(0)), "[m0 * 8 + 0..10]");
  auto step = Propagate(graph, {{tc, {{base, 4, 1, true, ""}}}}, {tb, tc},
                        {{tc, {{I(0), 1, 1, true, ""}}}}, ranges);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(ToString(step->at(tb)), "[m0 * 8 + 0..4 step 2]");
  EXPECT_EQ(ToString(step->at(0)), "[m0 * 8 + 0..8]");
}

TEST(Propagate, ATileThatReachesOutsideAnInnerTensorIsAHullBehindIt) {
  // C reads B with padding, B reads A: rows of A that only padding rows of B
  // would need are not touched.
  TensorGraph graph;
  graph.AddPlaceholder("A", DType::kFloat32, {10});
  Compute b;
  b.axes = {{"i", 8}};
  b.body = {graph.Load(0, {V(0) + I(1)})};
  TensorId tb = graph.AddCompute("B", DType::kFloat32, b);
  Compute c;
  c.axes = {{"i", 8}};
  c.reduce_axes = {{"k", 3}};
  c.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  Expr x = V(0) + V(1) - I(1);
  c.body = {Select(InBounds(x, 8), graph.Load(tb, {x}), Expr::Float(0))};
  TensorId tc = graph.AddCompute("C", DType::kFloat32, c);
  RangeOf ranges = [](int) { return Range{0, 1}; };
  auto tiled = Propagate(
      graph, {{tc, {{Expr::Var(kOuter, "m0") * I(4), 4, 1, true, ""}}}},
      {tb, tc}, {}, ranges);
  ASSERT_TRUE(tiled.ok());
  EXPECT_EQ(ToString(tiled->at(tb)), "[m0 * 4 - 1 + 0..6]");
  EXPECT_EQ(ToString(tiled->at(0)),
            "[m0 * 4 + 0..6 (hull: the tile reaches outside)]");
  auto whole =
      Propagate(graph, {{tc, {{I(0), 8, 1, true, ""}}}}, {tb, tc}, {}, ranges);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(ToString(whole->at(0)), "[1 + 0..8]");
}

TEST(Join, MakesOneProgressionOrSaysWhyNot) {
  RangeOf ranges = [](int) { return Range{0, 3}; };
  auto dim = [](int64_t base, int64_t extent, int64_t step) {
    return Region{{Expr::Int(base), extent, step, true, ""}};
  };
  EXPECT_EQ(ToString(Join(dim(0, 4, 1), dim(4, 4, 1), ranges)), "[0..8]");
  EXPECT_EQ(ToString(Join(dim(6, 2, 2), dim(0, 3, 2), ranges)),
            "[0..5 step 2]");
  EXPECT_EQ(ToString(Join(dim(0, 8, 1), dim(2, 3, 2), ranges)), "[0..8]");
  EXPECT_EQ(ToString(Join(dim(0, 1, 1), dim(3, 1, 1), ranges)),
            "[0..2 step 3]");
  EXPECT_EQ(ToString(Join(dim(0, 2, 1), dim(3, 2, 1), ranges)),
            "[0..5 (hull: joined regions leave a gap)]");
  Region a{{V(0) * I(2), 2, 1, true, ""}},
      b{{V(0) * I(2) + I(1), 3, 1, true, ""}};
  EXPECT_EQ(ToString(Join(a, b, ranges)), "[a * 2 + 0..4]");
  Region far{{V(0) * I(3), 2, 1, true, ""}};
  EXPECT_EQ(ToString(Join(a, far, ranges)),
            "[a * 2 + 0..5 (hull: the distance of joined regions varies)]");
}

}  // namespace
}  // namespace tilewright
