#include "sketch/testing/fused_workloads.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "sketch/fused/stage_workload.h"
#include "sketch/trace/stage_plan.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

Expr V(int id) { return Expr::Var(id, absl::StrCat("x", id)); }
Expr F(double value) { return Expr::Float(value); }
Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}

class Builder {
 public:
  Builder() = default;

  TensorId Input(const std::string& name, std::vector<int64_t> shape) {
    return graph().AddPlaceholder(name, DType::kFloat32,
                                  {shape.begin(), shape.end()});
  }

  TensorId Weights(std::vector<int64_t> shape) {
    auto tensor =
        std::make_shared<HostTensor>(DType::kFloat32, std::move(shape));
    Random random(graph().size());
    for (int64_t i = 0; i < tensor->num_elements(); ++i)
      tensor->Set(i, Scalar{static_cast<double>(random.UniformInt(-2, 2)), 0});
    return graph().AddConstant("w", std::move(tensor));
  }

  // Axis i is of extent shape[i].
  TensorId Map(const std::vector<int64_t>& shape, Expr body) {
    Compute compute;
    compute.axes = Axes(shape, 'a');
    compute.body = {std::move(body)};
    return Add(std::move(compute));
  }

  // Reduces axes of the extents `reduced`, numbered behind those of `shape`.
  TensorId Reduce(const std::vector<int64_t>& shape,
                  const std::vector<int64_t>& reduced, Combiner::Kind kind,
                  Expr body) {
    Compute compute;
    compute.axes = Axes(shape, 'a');
    compute.reduce_axes = Axes(reduced, 'k');
    compute.combiner = Combiner(kind, DType::kFloat32);
    compute.body = {std::move(body)};
    return Add(std::move(compute));
  }

  Expr Load(TensorId id, std::vector<Expr> index) {
    return graph().Load(id, std::move(index));
  }

  std::vector<int64_t> Shape(TensorId id) {
    return graph().tensor(id).static_shape();
  }

  // Makes a stage of the computes since the last one.
  void EndStage() {
    const TensorId output = stage_.back();
    staged_.plan.stages.push_back({Layout::RowMajor(Shape(output))});
    staged_.workload.stages.push_back(std::move(stage_));
    stage_.clear();
  }
  void EndStage(Layout layout) {
    const TensorId output = stage_.back();
    staged_.workload.layouts[output] = layout;
    staged_.plan.stages.push_back({std::move(layout)});
    staged_.workload.stages.push_back(std::move(stage_));
    stage_.clear();
  }

  void SetLayout(TensorId id, Layout layout) {
    staged_.workload.layouts[id] = std::move(layout);
  }

  FusedWorkload Finish() && {
    const TensorId output = staged_.workload.stages.back().back();
    staged_.plan.tile = Shape(output);
    graph().SetOutputs({output});
    // Only tensors that cross the boundary have layouts.
    for (const std::vector<TensorId>& stage : staged_.workload.stages) {
      if (stage.back() != output) staged_.workload.layouts.erase(stage.back());
    }
    return std::move(staged_);
  }

 private:
  TensorGraph& graph() { return staged_.workload.graph; }

  static std::vector<Axis> Axes(const std::vector<int64_t>& extents,
                                char name) {
    std::vector<Axis> axes;
    for (const int64_t extent : extents)
      axes.push_back({absl::StrCat(std::string(1, name), axes.size()), extent});
    return axes;
  }

  TensorId Add(Compute compute) {
    stage_.push_back(graph().AddCompute(absl::StrCat("t", computes_++),
                                        DType::kFloat32, std::move(compute)));
    return stage_.back();
  }

  FusedWorkload staged_;
  std::vector<TensorId> stage_;
  int computes_ = 0;
};

// x · weights + bias.
TensorId Linear(Builder& b, TensorId x, int64_t width) {
  const std::vector<int64_t> shape = b.Shape(x);
  const TensorId weights = b.Weights({shape[1], width}),
                 bias = b.Weights({width});
  const TensorId product = b.Reduce(
      {shape[0], width}, {shape[1]}, Combiner::Kind::kSum,
      Make(Op::kMul, b.Load(x, {V(0), V(2)}), b.Load(weights, {V(2), V(1)})));
  return b.Map({shape[0], width}, Make(Op::kAdd, b.Load(product, {V(0), V(1)}),
                                       b.Load(bias, {V(1)})));
}

TensorId LayerNorm(Builder& b, TensorId x) {
  const std::vector<int64_t> shape = b.Shape(x);
  const auto width = static_cast<double>(shape[1]);
  const TensorId sum = b.Reduce({shape[0], 1}, {shape[1]}, Combiner::Kind::kSum,
                                b.Load(x, {V(0), V(2)}));
  const auto centred = [&](int axis) {
    return Make(
        Op::kSub, b.Load(x, {V(0), V(axis)}),
        Make(Op::kMul, b.Load(sum, {V(0), Expr::Int(0)}), F(1 / width)));
  };
  const TensorId squares =
      b.Reduce({shape[0], 1}, {shape[1]}, Combiner::Kind::kSum,
               Make(Op::kMul, centred(2), centred(2)));
  const Expr variance =
      Make(Op::kAdd,
           Make(Op::kMul, b.Load(squares, {V(0), Expr::Int(0)}), F(1 / width)),
           F(1e-5));
  return b.Map(shape,
               Make(Op::kDiv, centred(1), Expr::Make(Op::kSqrt, {variance})));
}

// Over the last dimension.
TensorId SoftmaxRows(Builder& b, TensorId x) {
  const std::vector<int64_t> shape = b.Shape(x);
  const int last = static_cast<int>(shape.size()) - 1;
  std::vector<int64_t> rows = shape;
  rows[last] = 1;
  std::vector<Expr> at, reduced, row;
  for (int i = 0; i <= last; ++i) {
    at.push_back(V(i));
    reduced.push_back(V(i < last ? i : last + 1));
    row.push_back(i < last ? V(i) : Expr::Int(0));
  }
  const TensorId most =
      b.Reduce(rows, {shape[last]}, Combiner::Kind::kMax, b.Load(x, reduced));
  const TensorId exp = b.Map(
      shape,
      Expr::Make(Op::kExp, {Make(Op::kSub, b.Load(x, at), b.Load(most, row))}));
  const TensorId sum =
      b.Reduce(rows, {shape[last]}, Combiner::Kind::kSum, b.Load(exp, reduced));
  const TensorId scale = b.Map(rows, Make(Op::kDiv, F(1), b.Load(sum, at)));
  return b.Map(shape, Make(Op::kMul, b.Load(exp, at), b.Load(scale, row)));
}

int64_t Pick(Random& random, std::vector<int64_t> from) {
  return from[random.Index(from.size())];
}

}  // namespace

FusedWorkload Mlp(int64_t rows, const std::vector<int64_t>& widths) {
  Builder b;
  TensorId x = b.Input("X", {rows, widths[0]});
  for (size_t i = 1; i < widths.size(); ++i) {
    x = Linear(b, x, widths[i]);
    if (i + 1 < widths.size())
      x = b.Map(b.Shape(x), Make(Op::kMax, b.Load(x, {V(0), V(1)}), F(0)));
    b.EndStage();
  }
  return std::move(b).Finish();
}

FusedWorkload TokenMlp(int64_t rows, int64_t width, int64_t hidden) {
  Builder b;
  const TensorId x = b.Input("X", {rows, width});
  const TensorId norm = LayerNorm(b, x);
  b.EndStage();
  const TensorId up = Linear(b, norm, hidden);
  const Expr u = b.Load(up, {V(0), V(1)});
  const TensorId gelu = b.Map(
      {rows, hidden},
      Make(Op::kMul, Make(Op::kMul, u, F(0.5)),
           Make(Op::kAdd,
                Expr::Make(Op::kErf, {Make(Op::kMul, u, F(0.70710678118))}),
                F(1))));
  b.EndStage();
  const TensorId down = Linear(b, gelu, width);
  b.Map({rows, width},
        Make(Op::kAdd, b.Load(down, {V(0), V(1)}), b.Load(x, {V(0), V(1)})));
  b.EndStage();
  return std::move(b).Finish();
}

FusedWorkload AddNorm(int64_t rows, int64_t depth, int64_t width, int64_t out) {
  Builder b;
  TensorId x = b.Input("X", {rows, depth > 0 ? depth : width});
  const TensorId residual = b.Input("R", {rows, width});
  if (depth > 0) x = Linear(b, x, width);
  x = b.Map({rows, width}, Make(Op::kAdd, b.Load(x, {V(0), V(1)}),
                                b.Load(residual, {V(0), V(1)})));
  b.EndStage();
  x = LayerNorm(b, x);
  b.EndStage();
  if (out > 0) {
    Linear(b, x, out);
    b.EndStage();
  }
  return std::move(b).Finish();
}

FusedWorkload Attention(int64_t heads, int64_t rows, int64_t keys,
                        int64_t depth, bool transposed) {
  Builder b;
  const TensorId q = b.Input("Q", {heads, rows, depth});
  TensorId k =
      b.Input("K", transposed ? std::vector<int64_t>{heads, keys, depth}
                              : std::vector<int64_t>{heads, depth, keys});
  const TensorId v = b.Input("V", {heads, keys, depth});
  if (transposed) {
    k = b.Map({heads, depth, keys}, b.Load(k, {V(0), V(2), V(1)}));
    b.EndStage();
  }
  const std::vector<int64_t> scores = {heads, rows, keys};
  const TensorId product =
      b.Reduce(scores, {depth}, Combiner::Kind::kSum,
               Make(Op::kMul, b.Load(q, {V(0), V(1), V(3)}),
                    b.Load(k, {V(0), V(3), V(2)})));
  const TensorId scaled = b.Map(
      scores, Make(Op::kMul, b.Load(product, {V(0), V(1), V(2)}), F(0.125)));
  b.EndStage();
  const TensorId softmax = SoftmaxRows(b, scaled);
  b.EndStage();
  b.Reduce({heads, rows, depth}, {keys}, Combiner::Kind::kSum,
           Make(Op::kMul, b.Load(softmax, {V(0), V(1), V(3)}),
                b.Load(v, {V(0), V(3), V(2)})));
  b.EndStage();
  return std::move(b).Finish();
}

FusedWorkload SoftmaxProduct(int64_t rows, int64_t keys, int64_t depth) {
  Builder b;
  const TensorId x = b.Input("X", {rows, keys}),
                 v = b.Input("V", {keys, depth});
  const TensorId twice =
      b.Map({rows, keys}, Make(Op::kMul, b.Load(x, {V(0), V(1)}), F(2)));
  b.EndStage();
  const TensorId softmax = SoftmaxRows(b, twice);
  b.EndStage();
  b.Reduce(
      {rows, depth}, {keys}, Combiner::Kind::kSum,
      Make(Op::kMul, b.Load(softmax, {V(0), V(2)}), b.Load(v, {V(2), V(1)})));
  b.EndStage();
  return std::move(b).Finish();
}

FusedWorkload Pointwise(int64_t h, int64_t w,
                        const std::vector<int64_t>& channels) {
  Builder b;
  const auto layout = [&](int64_t c) {
    return Layout::BlockedLast({1, c, h, w}, 1, 16);
  };
  TensorId x = b.Input("X", {1, channels[0], h, w});
  b.SetLayout(x, layout(channels[0]));
  for (size_t i = 1; i < channels.size(); ++i) {
    const TensorId weights = b.Weights({channels[i], channels[i - 1]});
    const std::vector<int64_t> shape = {1, channels[i], h, w};
    const TensorId product =
        b.Reduce(shape, {channels[i - 1]}, Combiner::Kind::kSum,
                 Make(Op::kMul, b.Load(x, {V(0), V(4), V(2), V(3)}),
                      b.Load(weights, {V(1), V(4)})));
    x = b.Map(shape,
              Make(Op::kMax, b.Load(product, {V(0), V(1), V(2), V(3)}), F(0)));
    b.EndStage(layout(channels[i]));
  }
  return std::move(b).Finish();
}

void DrawReduceSteps(FusedWorkload& fused, Random& random) {
  const TensorGraph& graph = fused.workload.graph;
  for (size_t s = 1; s < fused.plan.stages.size(); ++s) {
    const std::vector<std::vector<TensorId>>& stages = fused.workload.stages;
    const auto of = [&](size_t i) { return stages[i].back(); };
    // Only a product takes blocks, over the result of the stage right before
    // it, without padding behind it.
    if (s + 1 < stages.size() &&
        !graph.tensor(stages[s + 1][0]).compute.combiner)
      continue;
    const Compute& first = graph.tensor(stages[s][0]).compute;
    const std::vector<TensorId> inputs = graph.Inputs(stages[s][0]);
    if (!first.combiner || first.combiner->kind() != Combiner::Kind::kSum ||
        first.reduce_axes[0].extent.value() == 1 ||
        first.body[0].op() != Op::kMul ||
        std::find(inputs.begin(), inputs.end(), of(s - 1)) == inputs.end() ||
        random.Bernoulli(0.6))
      continue;
    fused.plan.stages[s].reduce_step =
        random.UniformInt(1, first.reduce_axes[0].extent.value());
  }
}

FusedWorkload DrawFused(uint64_t seed) {
  Random random(seed);
  const auto rows = [&] { return Pick(random, {1, 3, 7, 16, 20}); };
  const auto width = [&] { return Pick(random, {1, 5, 16, 24, 33, 40}); };
  FusedWorkload fused;
  switch (random.Index(4)) {
    case 0: {
      std::vector<int64_t> widths = {width(), width(), width()};
      if (random.Bernoulli(0.5)) widths.push_back(width());
      fused = Mlp(rows(), widths);
      break;
    }
    case 1:
      fused = TokenMlp(rows(), width(), random.Bernoulli(0.05) ? 900 : width());
      break;
    case 2:
      fused = Attention(random.UniformInt(1, 3), rows(),
                        random.Bernoulli(0.05) ? 900 : width(), width(),
                        random.Bernoulli(0.5));
      break;
    default:
      fused = Pointwise(random.UniformInt(1, 9), random.UniformInt(1, 9),
                        {Pick(random, {16, 32}), Pick(random, {16, 48}),
                         Pick(random, {16, 24, 32})});
  }
  for (int64_t& extent : fused.plan.tile) {
    if (random.Bernoulli(0.7))
      extent = random.UniformInt(1, random.Bernoulli(0.5) ? extent : 8);
  }
  // Blocks of channels stay whole.
  int64_t& channels = fused.plan.tile[1];
  if (fused.plan.tile.size() == 4) channels = (channels + 15) / 16 * 16;
  DrawReduceSteps(fused, random);
  return fused;
}

std::vector<Workload> UnfusedWorkloads(const FusedWorkload& fused) {
  const absl::StatusOr<StagePlan> plan = WishedPlan(fused.workload, fused.plan);
  TW_CHECK(plan.ok());
  std::vector<Workload> groups;
  for (size_t i = 0; i < plan->stages.size(); ++i) {
    absl::StatusOr<Workload> group =
        StageWorkload(fused.workload, *plan, i, plan->stages[i].layout);
    TW_CHECK(group.ok());
    groups.push_back(*std::move(group));
  }
  return groups;
}

}  // namespace tilewright::sketch
