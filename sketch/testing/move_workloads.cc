#include "sketch/testing/move_workloads.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/random.h"

namespace tilewright::sketch {
namespace {

// Enough for edges on all sides, few for the reference.
constexpr int64_t kMostElements = 20000;

class Drawer {
 public:
  explicit Drawer(uint64_t seed) : random_(seed) {}

  Workload Run() {
    const DType dtypes[] = {DType::kFloat32, DType::kFloat32, DType::kInt8,
                            DType::kFloat16, DType::kInt64,   DType::kUInt16};
    dtype_ = dtypes[random_.Index(6)];
    const int rank = static_cast<int>(random_.UniformInt(1, 4));
    int64_t elements = 1;
    for (int d = 0; d < rank; ++d) {
      int64_t extent = OneOf({1, 2, 3, 4, 7, 8, 16, 17, 31, 33, 64, 70, 130});
      while (extent > 1 && extent * elements > kMostElements) extent /= 2;
      elements *= extent;
      shape_.push_back(extent);
    }
    Compute compute;
    for (int d = 0; d < rank; ++d)
      compute.axes.push_back({absl::StrCat("x", d), shape_[d]});
    Expr body = Operand();
    while (operands_ < 3 && random_.Bernoulli(0.4)) {
      const Expr other = Operand();
      body = Expr::Make(Op::kAdd, {std::move(body), other});
    }
    compute.body = {std::move(body)};
    const TensorId output =
        workload_.graph.AddCompute("Y", dtype_, std::move(compute));
    workload_.layouts[output] = DrawLayout(shape_);
    workload_.graph.SetOutputs({output});
    return std::move(workload_);
  }

 private:
  int64_t OneOf(std::vector<int64_t> values) {
    return values[random_.Index(values.size())];
  }

  Layout DrawLayout(const std::vector<int64_t>& shape) {
    if (random_.Bernoulli(0.6)) return Layout::RowMajor(shape);
    return Layout::BlockedLast(
        shape, static_cast<int>(random_.Index(shape.size())), OneOf({8, 16}));
  }

  // A load of a new input, whose dimensions are axes of the output.
  Expr Operand() {
    std::vector<size_t> order;
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (order.empty() || random_.Bernoulli(0.9)) order.push_back(d);
    }
    if (random_.Bernoulli(0.8)) random_.Shuffle(absl::MakeSpan(order));
    std::vector<int64_t> shape;
    std::vector<Expr> index;
    Expr guard;
    for (size_t d : order) {
      const int64_t extent = shape_[d];
      Expr at = Expr::Var(static_cast<int>(d), absl::StrCat("x", d));
      int64_t length = extent;
      switch (random_.UniformInt(0, 11)) {
        case 0: {  // a step
          const int64_t step = random_.UniformInt(2, 4);
          at =
              at * Expr::Int(step) + Expr::Int(random_.UniformInt(0, step - 1));
          length = extent * step;
          break;
        }
        case 1:  // reversed
          at = Expr::Int(extent - 1) - at;
          break;
        case 2: {  // repeated
          const int64_t factor = random_.UniformInt(2, 3);
          at = FloorDiv(at, Expr::Int(factor));
          length = (extent + factor - 1) / factor;
          break;
        }
        case 3: {  // padded
          if (guard || extent < 3) break;
          const int64_t before = random_.UniformInt(0, 2);
          length = extent - before;
          at = at - Expr::Int(before);
          guard = Expr::Make(Op::kGe, {at, Expr::Int(0)});
          break;
        }
        default:
          break;
      }
      index.push_back(std::move(at));
      shape.push_back(length);
    }
    const TensorId input = workload_.graph.AddPlaceholder(
        absl::StrCat("X", operands_++), dtype_, {shape.begin(), shape.end()});
    workload_.layouts[input] = DrawLayout(shape);
    Expr load = workload_.graph.Load(input, index);
    if (!guard) return load;
    return Expr::Make(Op::kSelect, {guard, load,
                                    IsFloat(dtype_) ? Expr::Float(1, dtype_)
                                                    : Expr::Int(1, dtype_)});
  }

  Random random_;
  Workload workload_;
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> shape_;
  int operands_ = 0;
};

}  // namespace

Workload DrawMove(uint64_t seed) { return Drawer(seed).Run(); }

}  // namespace tilewright::sketch
