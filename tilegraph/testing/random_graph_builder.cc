#include "tilegraph/testing/random_graph_builder.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright {
namespace {

constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33};

}  // namespace

RandomGraphBuilder::RandomGraphBuilder(uint64_t seed,
                                       const RandomGraphOptions& options)
    : random_(seed), options_(options) {
  dtype_ = DrawDType();
  for (int i = 0; i < 3; ++i)
    pool_.push_back(kExtents[random_.Index(std::size(kExtents))]);
}

TensorGraph RandomGraphBuilder::Run(const GraphShape& shape) {
  std::vector<TensorId> computes;
  std::vector<bool> read(shape.kinds.size(), false);
  for (size_t i = 0; i < shape.kinds.size(); ++i) {
    std::vector<TensorId> inputs;
    for (const int from : shape.reads[i]) {
      inputs.push_back(computes[from]);
      read[from] = true;
    }
    if (inputs.empty()) inputs.push_back(DrawInput(DrawShape()));
    computes.push_back(AddCompute(shape.kinds[i], inputs));
  }
  std::vector<TensorId> outputs;
  for (size_t i = 0; i < computes.size(); ++i) {
    if (!read[i] || random_.Bernoulli(0.15)) outputs.push_back(computes[i]);
  }
  graph_.SetOutputs(std::move(outputs));
  return std::move(graph_);
}

DType RandomGraphBuilder::DrawDType() {
  if (options_.f32_only) return DType::kFloat32;
  const double draw = random_.Uniform();
  if (draw < 0.82) return DType::kFloat32;
  if (draw < 0.90) return DType::kInt32;
  return draw < 0.96 ? DType::kInt64 : DType::kFloat16;
}

int64_t RandomGraphBuilder::DrawExtent() {
  return random_.Bernoulli(0.7) ? pool_[random_.Index(pool_.size())]
                                : kExtents[random_.Index(std::size(kExtents))];
}

std::vector<int64_t> RandomGraphBuilder::DrawShape() {
  constexpr int kRanks[] = {1, 2, 2, 2, 3, 3, 3, 4};
  std::vector<int64_t> shape;
  for (int d = kRanks[random_.Index(std::size(kRanks))]; d > 0; --d)
    shape.push_back(DrawExtent());
  return Fit(std::move(shape), options_.max_elements);
}

std::vector<int64_t> RandomGraphBuilder::Fit(std::vector<int64_t> shape,
                                             int64_t limit) {
  const auto product = [&] {
    int64_t result = 1;
    for (const int64_t extent : shape) result *= extent;
    return result;
  };
  while (product() > limit) {
    int64_t& largest = *std::max_element(shape.begin(), shape.end());
    largest =
        *(std::lower_bound(std::begin(kExtents), std::end(kExtents), largest) -
          1);
  }
  return shape;
}

TensorId RandomGraphBuilder::DrawInput(std::vector<int64_t> shape) {
  if (random_.Bernoulli(0.6)) {
    return graph_.AddPlaceholder("p", dtype_,
                                 std::vector<Dim>(shape.begin(), shape.end()));
  }
  auto value = std::make_shared<HostTensor>(dtype_, std::move(shape));
  const bool whole = options_.exact_only || !IsFloat(dtype_);
  for (int64_t i = 0; i < value->num_elements(); ++i) {
    const int64_t integer = random_.UniformInt(-2, 2);
    value->Set(i,
               Scalar{whole ? static_cast<double>(integer) : random_.Normal(),
                      integer});
  }
  return graph_.AddConstant("c", std::move(value));
}

void RandomGraphBuilder::Reset() {
  axes_.clear();
  reduce_axes_.clear();
}

RandomGraphBuilder::Index RandomGraphBuilder::Spatial(int64_t extent) {
  TW_CHECK(reduce_axes_.empty()) << "spatial axes come first";
  axes_.push_back({absl::StrCat("i", axes_.size()), extent});
  return {Expr::Var(static_cast<int>(axes_.size()) - 1, axes_.back().name),
          extent};
}

RandomGraphBuilder::Index RandomGraphBuilder::Reduced(int64_t extent) {
  reduce_axes_.push_back({absl::StrCat("r", reduce_axes_.size()), extent});
  return {Expr::Var(static_cast<int>(axes_.size() + reduce_axes_.size()) - 1,
                    reduce_axes_.back().name),
          extent};
}

std::vector<RandomGraphBuilder::Index> RandomGraphBuilder::SpatialLike(
    absl::Span<const int64_t> shape) {
  std::vector<Index> indices;
  for (const int64_t extent : shape) indices.push_back(Spatial(extent));
  return indices;
}

int64_t RandomGraphBuilder::Points() const {
  int64_t points = 1;
  for (const Axis& axis : axes_) points *= axis.extent.value();
  for (const Axis& axis : reduce_axes_) points *= axis.extent.value();
  return points;
}

int64_t RandomGraphBuilder::Elements() const {
  int64_t elements = 1;
  for (const Axis& axis : axes_) elements *= axis.extent.value();
  return elements;
}

bool RandomGraphBuilder::TooLarge() const {
  return Elements() > options_.max_elements || Points() > options_.max_points;
}

std::vector<int64_t> RandomGraphBuilder::ShapeOf(TensorId id) const {
  return graph_.tensor(id).static_shape();
}

Expr RandomGraphBuilder::Read(TensorId id, absl::Span<const Index> indices,
                              double outside) {
  const std::vector<int64_t> shape = ShapeOf(id);
  const DType dtype = graph_.tensor(id).dtype;
  std::vector<Expr> at;
  Expr guard;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t from = static_cast<int64_t>(indices.size()) -
                         static_cast<int64_t>(shape.size() - d);
    if (from < 0 || shape[d] == 1) {
      at.push_back(Expr::Int(0));
      continue;
    }
    at.push_back(indices[from].expr);
    if (indices[from].extent <= shape[d]) continue;
    const Expr inside = Op2(Op::kLt, indices[from].expr, Expr::Int(shape[d]));
    guard = guard ? Op2(Op::kAnd, guard, inside) : inside;
  }
  const Expr load = graph_.Load(id, std::move(at));
  return guard ? Expr::Make(Op::kSelect, {guard, load, Number(outside, dtype)})
               : load;
}

TensorId RandomGraphBuilder::Finish(Expr body) {
  const DType dtype = body.dtype();
  return graph_.AddCompute(
      "t", dtype,
      Compute{std::move(axes_), {}, std::nullopt, {std::move(body)}});
}

TensorId RandomGraphBuilder::FinishReduce(Combiner::Kind kind, Expr body,
                                          ComputeHint hint) {
  if (reduce_axes_.empty()) return Finish(std::move(body));
  const DType dtype = body.dtype();
  const Combiner combiner(kind, Combiner::DefaultAccumulator(dtype));
  if (combiner.acc() != dtype)
    body = Expr::Cast(combiner.acc(), std::move(body));
  return graph_.AddCompute("t", dtype,
                           Compute{std::move(axes_),
                                   std::move(reduce_axes_),
                                   combiner,
                                   {std::move(body)}},
                           std::move(hint));
}

TensorId RandomGraphBuilder::AddCompute(ComputeKind kind,
                                        const std::vector<TensorId>& inputs) {
  Reset();
  const TensorId x = inputs[0];
  const TensorId y = inputs.size() > 1 ? inputs[1] : -1;
  const int rank = static_cast<int>(ShapeOf(x).size());
  TensorId result = -1;
  switch (kind) {
    case ComputeKind::kUnary:
      break;
    case ComputeKind::kReduce:
      result = rank >= 1 ? AddReduce(x) : -1;
      break;
    case ComputeKind::kPool:
      result = rank >= 1 ? AddSliding(x, /*weighted=*/false) : -1;
      break;
    case ComputeKind::kConv:
      result = rank >= 2 ? AddSliding(x, /*weighted=*/true) : -1;
      break;
    case ComputeKind::kTranspose:
      result = rank >= 2 ? AddTranspose(x) : -1;
      break;
    case ComputeKind::kSplit:
      result = rank >= 1 ? AddSplit(x) : -1;
      break;
    case ComputeKind::kMerge:
      result = rank >= 2 ? AddMerge(x) : -1;
      break;
    case ComputeKind::kWindow:
      result = rank >= 1 ? AddWindow(x) : -1;
      break;
    case ComputeKind::kBinary:
      result = AddBinary(x, y);
      break;
    case ComputeKind::kMatmul:
      result = rank >= 1 ? AddMatmul(x, y) : -1;
      break;
    case ComputeKind::kConcat:
      result = rank >= 1 ? AddConcat(x, y) : -1;
      break;
  }
  if (result >= 0) return result;
  Reset();
  return y >= 0 ? AddBinary(x, y) : AddUnary(x);
}

Expr RandomGraphBuilder::Unary(const Expr& x) {
  const DType dtype = x.dtype();
  const bool exact = options_.exact_only || !IsFloat(dtype);
  switch (random_.Index(exact ? 6 : 11)) {
    case 0:
      return Op2(Op::kMax, x, Number(0, dtype));
    case 1:
      return Op2(Op::kMul, x, x);
    case 2:
      return Op2(Op::kAdd, Op2(Op::kMul, x, Number(2, dtype)),
                 Number(-1, dtype));
    case 3:
      return Expr::Make(Op::kAbs, {x});
    case 4:
      return Op2(Op::kMin, Op2(Op::kMax, x, Number(-1, dtype)),
                 Number(6, dtype));
    case 5:
      return Expr::Make(Op::kSelect, {Op2(Op::kLt, x, Number(0, dtype)),
                                      Expr::Make(Op::kNeg, {x}), x});
    case 6:
      return Expr::Make(Op::kTanh, {x});
    case 7:
      return Expr::Make(Op::kSigmoid, {x});
    case 8:
      return Expr::Make(Op::kExp, {Op2(Op::kMin, x, Number(3, dtype))});
    case 9:
      return Expr::Make(Op::kSqrt, {Expr::Make(Op::kAbs, {x})});
    default:
      return Op2(Op::kMul, x, Expr::Make(Op::kSigmoid, {x}));
  }
}

TensorId RandomGraphBuilder::AddUnary(TensorId x) {
  const std::vector<Index> at = SpatialLike(ShapeOf(x));
  return Finish(Unary(Read(x, at)));
}

TensorId RandomGraphBuilder::AddBinary(TensorId x, TensorId y) {
  const std::vector<int64_t> shape = ShapeOf(x);
  if (y < 0) {
    std::vector<int64_t> other(shape.begin() + random_.Index(shape.size() + 1),
                               shape.end());
    for (int64_t& extent : other) extent = random_.Bernoulli(0.2) ? 1 : extent;
    y = random_.Bernoulli(0.15) ? x : DrawInput(std::move(other));
  }
  const std::vector<Index> at = SpatialLike(shape);
  const Expr a = Read(x, at);
  Expr b = Read(y, at);
  if (a.dtype() != b.dtype()) b = Expr::Cast(a.dtype(), b);
  constexpr Op kOps[] = {Op::kAdd, Op::kSub, Op::kMul,
                         Op::kMax, Op::kMin, Op::kAdd};
  const Expr joined = Op2(kOps[random_.Index(std::size(kOps))], a, b);
  return Finish(random_.Bernoulli(0.3) ? Unary(joined) : joined);
}

}  // namespace tilewright
