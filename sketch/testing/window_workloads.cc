#include "sketch/testing/window_workloads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "tilegraph/analysis/known_zeros.h"

namespace tilewright::sketch {
namespace {

// One spatial dimension.
struct Slide {
  int64_t output, kernel, stride, dilation, before, after;
  int64_t input() const {
    return (output - 1) * stride + (kernel - 1) * dilation + 1 - before - after;
  }
};

enum class LayoutKind : uint8_t { kPlain, kBlocked, kLast };

Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}

class Drawer {
 public:
  explicit Drawer(uint64_t seed) : random_(seed) {}

  Workload Run() {
    DrawShape();
    return convolution_ ? Convolution() : Pooling();
  }

 private:
  int64_t OneOf(std::vector<int64_t> values) {
    return values[random_.Index(values.size())];
  }

  void DrawShape() {
    convolution_ = random_.Bernoulli(0.6);
    const int64_t rank = OneOf({1, 2, 2, 2, 3});
    batch_ = OneOf({1, 1, 2});
    per_group_in_ = convolution_ ? OneOf({1, 1, 1, 1, 2, 4, 8, 16}) : 1;
    per_group_out_ = per_group_in_ == 1 ? OneOf({1, 1, 1, 2}) : per_group_in_;
    groups_ = std::max<int64_t>(
        1, OneOf({1, 3, 8, 16, 17, 24, 32, 40}) / per_group_in_);
    layout_ = static_cast<LayoutKind>(random_.Index(3));
    block_ = OneOf({16, 16, 8});
    int64_t points = batch_ * groups_ * per_group_out_ * per_group_in_;
    for (int64_t d = 0; d < rank; ++d) {
      Slide slide{OneOf({1, 2, 3, 5, 7, 8, 13, 14, 17, 31}),
                  OneOf({1, 2, 3, 3, 3, 5, 7}),
                  OneOf({1, 1, 2, 3}),
                  OneOf({1, 1, 2}),
                  0,
                  0};
      if (rank == 1 && random_.Bernoulli(0.3))
        slide.kernel = OneOf({9, 15, 31});
      // Enough is enough for the reference.
      while (points * slide.output * slide.kernel > kMostPoints &&
             slide.output * slide.kernel > 1) {
        (slide.output > slide.kernel ? slide.output : slide.kernel) /= 2;
      }
      points *= slide.output * slide.kernel;
      const int64_t span = (slide.kernel - 1) * slide.dilation;
      slide.before = random_.UniformInt(0, span / 2);
      slide.after = random_.UniformInt(0, span / 2);
      slides_.push_back(slide);
    }
  }

  Layout LayoutOf(const std::vector<int64_t>& shape) const {
    if (layout_ == LayoutKind::kPlain) return Layout::RowMajor(shape);
    if (layout_ == LayoutKind::kBlocked)
      return Layout::BlockedLast(shape, 1, block_);
    std::vector<Layout::Digit> digits = {{0, 1, shape[0]}};
    for (size_t d = 2; d < shape.size(); ++d)
      digits.push_back({static_cast<int>(d), 1, shape[d]});
    digits.push_back({1, 1, shape[1]});
    const std::vector<int64_t> none(shape.size(), 0);
    return *Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  }

  TensorId Placeholder(std::string name, std::vector<int64_t> shape) {
    const TensorId id = workload_.graph.AddPlaceholder(
        std::move(name), DType::kFloat32, {shape.begin(), shape.end()});
    workload_.layouts[id] = LayoutOf(shape);
    return id;
  }

  // The halo of a tensor of the padded shape.
  void SetZeros(TensorId x) {
    KnownZeros zeros;
    zeros.before = zeros.after = {0, 0};
    for (const Slide& slide : slides_) {
      zeros.before.push_back(slide.before);
      zeros.after.push_back(slide.after);
    }
    if (!zeros.empty()) workload_.zeros[x] = std::move(zeros);
  }

  TensorId Constant(std::string name, std::vector<int64_t> shape) {
    auto value = std::make_shared<HostTensor>(DType::kFloat32, shape);
    for (int64_t i = 0; i < value->num_elements(); ++i)
      value->Set(i, Scalar{static_cast<double>(random_.UniformInt(-3, 3)), 0});
    return workload_.graph.AddConstant(std::move(name), value);
  }

  // The output's axes and, as variables, what stands behind them: reduce axes.
  std::vector<Axis> OutputAxes() const {
    std::vector<Axis> axes = {{"n", batch_}, {"c", groups_ * per_group_out_}};
    for (size_t d = 0; d < slides_.size(); ++d)
      axes.push_back({absl::StrCat("o", d), slides_[d].output});
    return axes;
  }
  Expr Out(size_t axis) const {
    return Expr::Var(static_cast<int>(axis), absl::StrCat("x", axis));
  }
  Expr Over(size_t axis) const { return Out(2 + slides_.size() + axis); }

  std::vector<int64_t> InputShape(int64_t channels, bool padded) const {
    std::vector<int64_t> shape = {batch_, channels};
    for (const Slide& slide : slides_)
      shape.push_back(slide.input() +
                      (padded ? slide.before + slide.after : 0));
    return shape;
  }

  Workload Convolution() {
    TensorGraph& g = workload_.graph;
    const TensorId x =
        Placeholder("X", InputShape(groups_ * per_group_in_, true));
    SetZeros(x);
    std::vector<int64_t> weights = {groups_ * per_group_out_, per_group_in_};
    Compute compute;
    compute.axes = OutputAxes();
    compute.reduce_axes = {{"ic", per_group_in_}};
    std::vector<Expr> at = {Out(0), Over(0)}, tap = {Out(1), Over(0)};
    if (groups_ > 1)
      at[1] = FloorDiv(Out(1), Expr::Int(per_group_out_)) *
                  Expr::Int(per_group_in_) +
              Over(0);
    for (size_t d = 0; d < slides_.size(); ++d) {
      weights.push_back(slides_[d].kernel);
      compute.reduce_axes.push_back({absl::StrCat("k", d), slides_[d].kernel});
      at.push_back(Out(2 + d) * Expr::Int(slides_[d].stride) +
                   Over(1 + d) * Expr::Int(slides_[d].dilation));
      tap.push_back(Over(1 + d));
    }
    const TensorId w = Constant("W", weights);
    compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
    compute.body = {Make(Op::kMul, g.Load(x, at), g.Load(w, tap))};
    return Finish(std::move(compute));
  }

  Workload Pooling() {
    const TensorId x =
        Placeholder("X", InputShape(groups_ * per_group_out_, false));
    const bool max = random_.Bernoulli(0.5);
    Compute compute;
    compute.axes = OutputAxes();
    std::vector<Expr> at = {Out(0), Out(1)};
    Expr inside;
    const auto require = [&](Expr condition) {
      inside = inside ? Make(Op::kAnd, inside, std::move(condition))
                      : std::move(condition);
    };
    for (size_t d = 0; d < slides_.size(); ++d) {
      const Slide& slide = slides_[d];
      compute.reduce_axes.push_back({absl::StrCat("k", d), slide.kernel});
      const Expr position = Out(2 + d) * Expr::Int(slide.stride) +
                            Over(d) * Expr::Int(slide.dilation) -
                            Expr::Int(slide.before);
      if (slide.before > 0) require(Make(Op::kGe, position, Expr::Int(0)));
      if (slide.after > 0)
        require(Make(Op::kLt, position, Expr::Int(slide.input())));
      at.push_back(position);
    }
    Expr body = workload_.graph.Load(x, at);
    if (inside) {
      const double outside =
          max ? -std::numeric_limits<double>::infinity() : 0.0;
      body = Expr::Make(Op::kSelect, {inside, body, Expr::Float(outside)});
    }
    compute.combiner = Combiner(
        max ? Combiner::Kind::kMax : Combiner::Kind::kSum, DType::kFloat32);
    compute.body = {body};
    return Finish(std::move(compute));
  }

  // The reduction, perhaps with bias and relu behind it.
  Workload Finish(Compute compute) {
    TensorGraph& g = workload_.graph;
    const std::vector<Axis> axes = compute.axes;
    TensorId last = g.AddCompute("T", DType::kFloat32, std::move(compute));
    if (random_.Bernoulli(0.6)) {
      const TensorId bias = Constant("B", {groups_ * per_group_out_});
      std::vector<Expr> all;
      for (size_t i = 0; i < axes.size(); ++i) all.push_back(Out(i));
      Compute epilogue;
      epilogue.axes = axes;
      epilogue.body = {Make(
          Op::kMax, Make(Op::kAdd, g.Load(last, all), g.Load(bias, {Out(1)})),
          Expr::Float(0))};
      last = g.AddCompute("Y", DType::kFloat32, std::move(epilogue));
    }
    g.SetOutputs({last});
    workload_.layouts[last] = LayoutOf(g.tensor(last).static_shape());
    return std::move(workload_);
  }

  static constexpr int64_t kMostPoints = 30000;

  Random random_;
  bool convolution_ = false;
  int64_t batch_ = 1, groups_ = 1, per_group_in_ = 1, per_group_out_ = 1;
  std::vector<Slide> slides_;
  LayoutKind layout_ = LayoutKind::kPlain;
  int64_t block_ = 16;
  Workload workload_;
};

}  // namespace

Workload DrawWindow(uint64_t seed) { return Drawer(seed).Run(); }

}  // namespace tilewright::sketch
