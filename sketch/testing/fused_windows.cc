#include "sketch/testing/fused_windows.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

using Kind = WindowStep::Kind;

Expr V(int id) { return Expr::Var(id, absl::StrCat("x", id)); }
Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}

Layout LayoutOf(WindowLayout kind, const std::vector<int64_t>& shape) {
  if (kind == WindowLayout::kPlain) return Layout::RowMajor(shape);
  if (kind == WindowLayout::kBlocked) return Layout::BlockedLast(shape, 1, 16);
  const std::vector<int64_t> none(4, 0);
  return *Layout::Create(
      shape, none, none,
      {{0, 1, shape[0]}, {2, 1, shape[2]}, {3, 1, shape[3]}, {1, 1, shape[1]}},
      Layout::Fill::kUndefined);
}

class Builder {
 public:
  explicit Builder(WindowLayout layout) : layout_(layout) {}

  FusedWorkload Run(int64_t channels, int64_t h, int64_t w,
                    const std::vector<WindowStep>& steps, bool residual,
                    bool norm = false) {
    TensorId x = norm ? NormedPixels(channels, h, w)
                      : graph().AddPlaceholder("X", DType::kFloat32,
                                               {1, channels, h, w});
    const TensorId input = x;
    if (!norm) staged_.workload.layouts[x] = LayoutOf(layout_, Shape(x));
    for (const WindowStep& step : steps) {
      if (step.before + step.after > 0) x = Pad(x, step);
      x = step.kind == Kind::kMaxPool ? Pool(x, step) : Convolve(x, step);
      if (&step == &steps.back() && residual) {
        x = Map(Shape(x),
                Make(Op::kAdd, Load(x, Identity()), Load(input, Identity())));
      }
      staged_.plan.stages.push_back({LayoutOf(layout_, Shape(x))});
      staged_.workload.stages.push_back(std::move(members_));
      members_.clear();
    }
    staged_.workload.layouts[x] = LayoutOf(layout_, Shape(x));
    staged_.plan.tile = Shape(x);
    graph().SetOutputs({x});
    return std::move(staged_);
  }

 private:
  TensorGraph& graph() { return staged_.workload.graph; }
  std::vector<int64_t> Shape(TensorId id) {
    return graph().tensor(id).static_shape();
  }
  Expr Load(TensorId id, std::vector<Expr> index) {
    return graph().Load(id, std::move(index));
  }
  static std::vector<Expr> Identity() { return {V(0), V(1), V(2), V(3)}; }

  TensorId Add(Compute compute) {
    const std::string name = absl::StrCat("t", computes_++);
    members_.push_back(
        graph().AddCompute(name, DType::kFloat32, std::move(compute)));
    return members_.back();
  }

  static std::vector<Axis> Axes(const std::vector<int64_t>& shape) {
    return {{"n", shape[0]}, {"c", shape[1]}, {"h", shape[2]}, {"w", shape[3]}};
  }

  TensorId Map(const std::vector<int64_t>& shape, Expr body) {
    Compute compute;
    compute.axes = Axes(shape);
    compute.body = {std::move(body)};
    return Add(std::move(compute));
  }

  // A stage, and in the next one what makes an image of it.
  TensorId NormedPixels(int64_t channels, int64_t h, int64_t w) {
    const TensorId x =
        graph().AddPlaceholder("X", DType::kFloat32, {1, h * w, channels});
    const std::vector<Expr> element = {V(0), V(1), V(2)};
    const std::vector<Expr> row = {V(0), V(1), Expr::Int(0)};
    const Expr count = Expr::Float(static_cast<double>(channels));
    const auto axes = [&](int64_t innermost) {
      return std::vector<Axis>{{"n", 1}, {"p", h * w}, {"c", innermost}};
    };
    const auto sum = [&](Expr term) {
      Compute compute;
      compute.axes = axes(1);
      compute.reduce_axes = {{"k", channels}};
      compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
      compute.body = {std::move(term)};
      return Add(std::move(compute));
    };
    const auto map = [&](int64_t innermost, Expr body) {
      Compute compute;
      compute.axes = axes(innermost);
      compute.body = {std::move(body)};
      return Add(std::move(compute));
    };
    const std::vector<Expr> term = {V(0), V(1), V(3)};
    const TensorId total = sum(Load(x, term));
    const TensorId centred =
        map(channels, Make(Op::kSub, Load(x, element),
                           Make(Op::kDiv, Load(total, row), count)));
    const TensorId squares =
        sum(Make(Op::kMul, Load(centred, term), Load(centred, term)));
    const Expr variance = Make(Op::kDiv, Load(squares, row), count);
    const Expr deviation =
        Expr::Make(Op::kSqrt, {Make(Op::kAdd, variance, Expr::Float(1e-5))});
    const TensorId normed =
        map(channels, Make(Op::kDiv, Load(centred, element), deviation));
    staged_.plan.stages.push_back({Layout::RowMajor(Shape(normed))});
    staged_.workload.stages.push_back(std::move(members_));
    members_.clear();
    return Map({1, channels, h, w},
               Load(normed, {V(0), V(2) * Expr::Int(w) + V(3), V(1)}));
  }

  TensorId Pad(TensorId x, const WindowStep& step) {
    std::vector<int64_t> shape = Shape(x);
    std::vector<Expr> index = Identity();
    Expr inside;
    for (const int d : {2, 3}) {
      index[d] = V(d) - Expr::Int(step.before);
      const Expr one = Make(Op::kAnd, Make(Op::kGe, index[d], Expr::Int(0)),
                            Make(Op::kLt, index[d], Expr::Int(shape[d])));
      inside = inside ? Make(Op::kAnd, inside, one) : one;
      shape[d] += step.before + step.after;
    }
    const double outside = step.kind == Kind::kMaxPool
                               ? -std::numeric_limits<double>::infinity()
                               : 0;
    return Map(shape, Expr::Make(Op::kSelect, {inside, Load(x, index),
                                               Expr::Float(outside)}));
  }

  TensorId Weights(std::vector<int64_t> shape) {
    auto tensor =
        std::make_shared<HostTensor>(DType::kFloat32, std::move(shape));
    Random random(graph().size());
    for (int64_t i = 0; i < tensor->num_elements(); ++i)
      tensor->Set(i, Scalar{static_cast<double>(random.UniformInt(-2, 2)), 0});
    return graph().AddConstant("w", std::move(tensor));
  }

  static std::vector<int64_t> Windows(const std::vector<int64_t>& shape,
                                      int64_t channels,
                                      const WindowStep& step) {
    std::vector<int64_t> windows = {shape[0], channels};
    for (const int d : {2, 3}) {
      TW_CHECK_GE(shape[d], step.kernel);
      windows.push_back((shape[d] - step.kernel) / step.stride + 1);
    }
    return windows;
  }

  TensorId Convolve(TensorId x, const WindowStep& step) {
    const std::vector<int64_t> from = Shape(x);
    const bool depthwise = step.kind == Kind::kDepthwise;
    const int64_t channels = depthwise ? from[1] : step.channels,
                  terms = depthwise ? 1 : from[1];
    const TensorId weights =
        Weights({channels, terms, step.kernel, step.kernel});
    const TensorId bias = Weights({channels});
    const std::vector<int64_t> shape = Windows(from, channels, step);
    Compute compute;
    compute.axes = Axes(shape);
    compute.reduce_axes = {
        {"k", terms}, {"i", step.kernel}, {"j", step.kernel}};
    compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
    const Expr stride = Expr::Int(step.stride);
    compute.body = {Make(Op::kMul,
                         Load(x, {V(0), depthwise ? V(1) + V(4) : V(4),
                                  V(2) * stride + V(5), V(3) * stride + V(6)}),
                         Load(weights, {V(1), V(4), V(5), V(6)}))};
    const TensorId sums = Add(std::move(compute));
    Expr value = Make(Op::kAdd, Load(sums, Identity()), Load(bias, {V(1)}));
    if (step.clip)
      value =
          Make(Op::kMin, Make(Op::kMax, value, Expr::Float(0)), Expr::Float(6));
    return Map(shape, std::move(value));
  }

  TensorId Pool(TensorId x, const WindowStep& step) {
    const std::vector<int64_t> from = Shape(x);
    Compute compute;
    compute.axes = Axes(Windows(from, from[1], step));
    compute.reduce_axes = {{"i", step.kernel}, {"j", step.kernel}};
    compute.combiner = Combiner(Combiner::Kind::kMax, DType::kFloat32);
    const Expr stride = Expr::Int(step.stride);
    compute.body = {
        Load(x, {V(0), V(1), V(2) * stride + V(4), V(3) * stride + V(5)})};
    return Add(std::move(compute));
  }

  const WindowLayout layout_;
  FusedWorkload staged_;
  std::vector<TensorId> members_;
  int computes_ = 0;
};

}  // namespace

FusedWorkload WindowChain(int64_t channels, int64_t h, int64_t w,
                          const std::vector<WindowStep>& steps,
                          WindowLayout layout, bool residual) {
  return Builder(layout).Run(channels, h, w, steps, residual);
}

FusedWorkload InvertedResidual(int64_t channels, int64_t hidden, int64_t out,
                               int64_t size, int64_t stride,
                               WindowLayout layout) {
  return WindowChain(channels, size, size,
                     {{Kind::kConv, hidden},
                      {Kind::kDepthwise, hidden, 3, stride, 1, 1},
                      {Kind::kConv, out, 1, 1, 0, 0, false}},
                     layout, stride == 1 && channels == out);
}

FusedWorkload NormedWindow(int64_t h, int64_t w, int64_t channels,
                           int64_t out) {
  return Builder(WindowLayout::kLast)
      .Run(channels, h, w,
           {{Kind::kConv, out, 1, 1, 0, 0, false},
            {Kind::kDepthwise, out, 3, 1, 1, 1}},
           /*residual=*/false, /*norm=*/true);
}

FusedWorkload DrawNormedWindow(uint64_t seed) {
  Random random(seed);
  FusedWorkload fused =
      NormedWindow(random.UniformInt(1, 12), random.UniformInt(1, 20),
                   random.UniformInt(1, 40), random.UniformInt(1, 40));
  std::vector<int64_t>& tile = fused.plan.tile;
  for (size_t d = 1; d < 4; ++d) {
    if (random.Bernoulli(d == 2 ? 0.85 : 0.3))
      tile[d] = random.UniformInt(1, std::min<int64_t>(tile[d], 6));
  }
  return fused;
}

FusedWorkload DrawWindowChain(uint64_t seed) {
  Random random(seed);
  const auto pick = [&](std::vector<int64_t> from) {
    return from[random.Index(from.size())];
  };
  const int64_t channels = pick({1, 3, 8, 16, 17});
  const int64_t h = random.UniformInt(1, 12), w = random.UniformInt(1, 9);
  std::vector<WindowStep> steps;
  int64_t rows = h, columns = w;
  for (int64_t i = random.UniformInt(2, 4); i > 0; --i) {
    WindowStep step;
    step.kind = static_cast<Kind>(random.Index(3));
    step.channels = pick({5, 8, 16, 17, 24});
    step.kernel =
        step.kind == Kind::kConv ? pick({1, 1, 3, 2}) : pick({2, 3, 5});
    step.stride = pick({1, 1, 1, 2, 3});
    step.before = random.UniformInt(0, step.kernel - 1);
    step.after = random.UniformInt(0, step.kernel - 1);
    step.clip = random.Bernoulli(0.7);
    const int64_t around = step.before + step.after;
    if (std::min(rows, columns) + around < step.kernel) continue;
    rows = (rows + around - step.kernel) / step.stride + 1;
    columns = (columns + around - step.kernel) / step.stride + 1;
    steps.push_back(step);
  }
  if (steps.empty()) steps.push_back({Kind::kConv, 8});
  const auto layout = static_cast<WindowLayout>(random.Index(3));
  FusedWorkload fused = WindowChain(channels, h, w, steps, layout);
  std::vector<int64_t>& tile = fused.plan.tile;
  for (size_t d = 1; d < 4; ++d) {
    if (random.Bernoulli(d == 2 ? 0.85 : 0.3))
      tile[d] = random.UniformInt(1, std::min<int64_t>(tile[d], 6));
  }
  if (layout == WindowLayout::kBlocked) tile[1] = (tile[1] + 15) / 16 * 16;
  DrawReduceSteps(fused, random);
  return fused;
}

}  // namespace tilewright::sketch
