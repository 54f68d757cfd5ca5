#include "sketch/testing/dot_workloads.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostPoints = 40000;

Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}
Expr F(double value) { return Expr::Float(value); }
Expr V(size_t axis) {
  return Expr::Var(static_cast<int>(axis), absl::StrCat("x", axis));
}

class Drawer {
 public:
  explicit Drawer(uint64_t seed) : random_(seed) {}

  Workload Run() {
    bytes_ = random_.Bernoulli(0.6);
    return random_.Bernoulli(0.5) ? Gemm() : Convolution();
  }

  Workload NamedGemm(DType a, int64_t m, int64_t n, int64_t k) {
    bytes_ = a == DType::kUInt8;
    return Product(m, n, k, false);
  }

 private:
  int64_t OneOf(std::vector<int64_t> values) {
    return values[random_.Index(values.size())];
  }
  DType Narrow() const { return bytes_ ? DType::kUInt8 : DType::kBFloat16; }
  DType Wide() const { return bytes_ ? DType::kInt32 : DType::kFloat32; }

  TensorId Constant(std::string name, DType dtype, std::vector<int64_t> shape) {
    auto value = std::make_shared<HostTensor>(dtype, shape);
    const bool all = dtype == DType::kInt8;
    for (int64_t i = 0; i < value->num_elements(); ++i) {
      const int64_t drawn =
          all ? random_.UniformInt(-128, 127) : random_.UniformInt(-3, 3);
      value->Set(i, Scalar{static_cast<double>(drawn), drawn});
    }
    return workload_.graph.AddConstant(std::move(name), value);
  }

  Expr Term(const Expr& x, const Expr& w) {
    const Expr a = Expr::Cast(Wide(), x), b = Expr::Cast(Wide(), w);
    return random_.Bernoulli(0.5) ? Make(Op::kMul, a, b) : Make(Op::kMul, b, a);
  }

  Workload Gemm() {
    int64_t m = OneOf({1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33}),
            n = OneOf({1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 48, 50, 64, 100}),
            k = OneOf({1, 2, 3, 4, 6, 8, 12, 16, 20, 32, 36, 64, 128});
    const bool wide_sum = random_.Bernoulli(0.15);
    if (wide_sum) m = OneOf({1, 3}), n = OneOf({5, 16, 17}), k = 1000;
    return Product(m, n, k, random_.Bernoulli(0.5));
  }

  Workload Product(int64_t m, int64_t n, int64_t k, bool transposed) {
    TensorGraph& g = workload_.graph;
    const TensorId a = g.AddPlaceholder("A", Narrow(), {m, k});
    const std::vector<int64_t> shape =
        transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
    const TensorId b =
        Constant("B", bytes_ ? DType::kInt8 : DType::kBFloat16, shape);
    Compute compute;
    compute.axes = {{"m", m}, {"n", n}};
    compute.reduce_axes = {{"k", k}};
    compute.body = {
        Term(g.Load(a, {V(0), V(2)}),
             transposed ? g.Load(b, {V(1), V(2)}) : g.Load(b, {V(2), V(1)}))};
    return Finish(std::move(compute));
  }

  Workload Convolution() {
    TensorGraph& g = workload_.graph;
    const int64_t rank = OneOf({1, 2, 2});
    int64_t ic = OneOf({1, 2, 3, 4, 8, 16, 20, 32}),
            oc = OneOf({1, 3, 8, 16, 17, 32, 40});
    std::vector<int64_t> x_shape = {OneOf({1, 1, 2}), ic}, w_shape = {oc, ic};
    Compute compute;
    compute.axes = {{"n", x_shape[0]}, {"c", oc}};
    compute.reduce_axes = {{"ic", ic}};
    int64_t points = x_shape[0] * ic * oc;
    std::vector<Expr> at = {V(0), V(2 + rank)}, tap = {V(1), V(2 + rank)};
    for (int64_t d = 0; d < rank; ++d) {
      int64_t output = OneOf({1, 2, 5, 7, 8, 13, 14, 17}),
              kernel = OneOf({1, 1, 2, 3, 3});
      const int64_t stride = OneOf({1, 1, 2}), dilation = OneOf({1, 1, 2});
      while (points * output * kernel > kMostPoints && output * kernel > 1)
        (output > kernel ? output : kernel) /= 2;
      points *= output * kernel;
      x_shape.push_back((output - 1) * stride + (kernel - 1) * dilation + 1);
      w_shape.push_back(kernel);
      compute.axes.push_back({absl::StrCat("o", d), output});
      compute.reduce_axes.push_back({absl::StrCat("k", d), kernel});
      at.push_back(V(2 + d) * Expr::Int(stride) +
                   V(3 + rank + d) * Expr::Int(dilation));
      tap.push_back(V(3 + rank + d));
    }
    const TensorId x =
        g.AddPlaceholder("X", Narrow(), {x_shape.begin(), x_shape.end()});
    workload_.layouts[x] = DrawLayout(x_shape);
    const TensorId w =
        Constant("W", bytes_ ? DType::kInt8 : DType::kBFloat16, w_shape);
    compute.body = {Term(g.Load(x, at), g.Load(w, tap))};
    return Finish(std::move(compute));
  }

  Layout DrawLayout(const std::vector<int64_t>& shape) {
    const double kind = random_.Uniform();
    if (kind < 0.2) return Layout::RowMajor(shape);
    if (kind < 0.6) return Layout::BlockedLast(shape, 1, OneOf({16, 16, 8}));
    std::vector<Layout::Digit> digits;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != 1) digits.push_back({static_cast<int>(d), 1, shape[d]});
    }
    digits.push_back({1, 1, shape[1]});
    const std::vector<int64_t> none(shape.size(), 0);
    return *Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  }

  // The reduction, perhaps with what follows it in a network.
  Workload Finish(Compute compute) {
    TensorGraph& g = workload_.graph;
    const std::vector<Axis> axes = compute.axes;
    compute.combiner = Combiner(Combiner::Kind::kSum, Wide());
    TensorId last = g.AddCompute("T", Wide(), std::move(compute));
    if (random_.Bernoulli(0.6)) {
      const TensorId bias = Constant("bias", Wide(), {axes[1].extent.value()});
      std::vector<Expr> all;
      for (size_t i = 0; i < axes.size(); ++i) all.push_back(V(i));
      Expr value = Make(Op::kAdd, g.Load(last, all), g.Load(bias, {V(1)}));
      DType dtype = DType::kFloat32;
      if (!bytes_) {
        value = Make(Op::kMax, value, F(0));
      } else {
        value = Make(Op::kMul, Expr::Cast(dtype, value), F(0x1p-9));
        if (random_.Bernoulli(0.7)) {
          value = Make(Op::kAdd, Expr::Make(Op::kRound, {value}), F(100));
          value = Make(Op::kMin, Make(Op::kMax, value, F(0)), F(255));
          dtype = DType::kUInt8;
          value = Expr::Cast(dtype, value);
        }
      }
      Compute epilogue;
      epilogue.axes = axes;
      epilogue.body = {std::move(value)};
      last = g.AddCompute("Y", dtype, std::move(epilogue));
    }
    g.SetOutputs({last});
    if (axes.size() > 2)
      workload_.layouts[last] = DrawLayout(g.tensor(last).static_shape());
    return std::move(workload_);
  }

  Random random_;
  bool bytes_ = true;
  Workload workload_;
};

}  // namespace

Workload DrawDot(uint64_t seed) { return Drawer(seed).Run(); }

Workload NarrowGemm(DType a, int64_t m, int64_t n, int64_t k) {
  return Drawer(3).NamedGemm(a, m, n, k);
}

}  // namespace tilewright::sketch
