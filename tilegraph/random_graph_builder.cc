#include "tilegraph/random_graph_builder.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "base/random.h"

namespace tilewright {
namespace {

constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33};

Expr Op2(Op op, const Expr& a, const Expr& b) { return Expr::Make(op, {a, b}); }
Expr Number(double value, DType dtype) {
  return IsFloat(dtype) ? Expr::Float(value, dtype)
                        : Expr::Int(static_cast<int64_t>(value), dtype);
}

// An index with the range [0, extent) it runs over.
struct Index {
  Expr expr;
  int64_t extent;
};

class Builder {
 public:
  Builder(uint64_t seed, const RandomGraphOptions& options)
      : random_(seed), options_(options) {
    dtype_ = DrawDType();
    for (int i = 0; i < 3; ++i)
      pool_.push_back(kExtents[random_.Index(std::size(kExtents))]);
  }

  TensorGraph Run(const GraphShape& shape) {
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

 private:
  DType DrawDType() {
    if (options_.f32_only) return DType::kFloat32;
    const double draw = random_.Uniform();
    if (draw < 0.82) return DType::kFloat32;
    if (draw < 0.90) return DType::kInt32;
    return draw < 0.96 ? DType::kInt64 : DType::kFloat16;
  }

  // Mostly from a few extents of this graph, so that shapes often meet.
  int64_t DrawExtent() {
    return random_.Bernoulli(0.7)
               ? pool_[random_.Index(pool_.size())]
               : kExtents[random_.Index(std::size(kExtents))];
  }

  std::vector<int64_t> DrawShape() {
    constexpr int kRanks[] = {1, 2, 2, 2, 3, 3, 3, 4};
    std::vector<int64_t> shape;
    for (int d = kRanks[random_.Index(std::size(kRanks))]; d > 0; --d)
      shape.push_back(DrawExtent());
    return Fit(std::move(shape), options_.max_elements);
  }

  // Replaces extents by smaller ones until the product fits.
  std::vector<int64_t> Fit(std::vector<int64_t> shape, int64_t limit) {
    const auto product = [&] {
      int64_t result = 1;
      for (const int64_t extent : shape) result *= extent;
      return result;
    };
    while (product() > limit) {
      int64_t& largest = *std::max_element(shape.begin(), shape.end());
      largest = *(
          std::lower_bound(std::begin(kExtents), std::end(kExtents), largest) -
          1);
    }
    return shape;
  }

  // A placeholder, or a constant.
  TensorId DrawInput(std::vector<int64_t> shape) {
    if (random_.Bernoulli(0.6)) {
      return graph_.AddPlaceholder(
          "p", dtype_, std::vector<Dim>(shape.begin(), shape.end()));
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

  // --- Axes of the compute being built

  void Reset() {
    axes_.clear();
    reduce_axes_.clear();
  }
  Index Spatial(int64_t extent) {
    TW_CHECK(reduce_axes_.empty()) << "spatial axes come first";
    axes_.push_back({absl::StrCat("i", axes_.size()), extent});
    return {Expr::Var(static_cast<int>(axes_.size()) - 1, axes_.back().name),
            extent};
  }
  Index Reduced(int64_t extent) {
    reduce_axes_.push_back({absl::StrCat("r", reduce_axes_.size()), extent});
    return {Expr::Var(static_cast<int>(axes_.size() + reduce_axes_.size()) - 1,
                      reduce_axes_.back().name),
            extent};
  }
  int64_t Points() const {
    int64_t points = 1;
    for (const Axis& axis : axes_) points *= axis.extent.value();
    for (const Axis& axis : reduce_axes_) points *= axis.extent.value();
    return points;
  }
  int64_t Elements() const {
    int64_t elements = 1;
    for (const Axis& axis : axes_) elements *= axis.extent.value();
    return elements;
  }

  std::vector<int64_t> ShapeOf(TensorId id) const {
    return graph_.tensor(id).static_shape();
  }

  // Loads `id` at indices aligned to its last dimensions: extent 1 is
  // broadcast, missing dimensions read 0, and where the index runs further than
  // the tensor a select takes `outside` instead.
  Expr Read(TensorId id, absl::Span<const Index> indices, double outside = 0) {
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
    return guard
               ? Expr::Make(Op::kSelect, {guard, load, Number(outside, dtype)})
               : load;
  }

  TensorId Finish(Expr body) {
    const DType dtype = body.dtype();
    return graph_.AddCompute(
        "t", dtype,
        Compute{std::move(axes_), {}, std::nullopt, {std::move(body)}});
  }
  TensorId FinishReduce(Combiner::Kind kind, Expr body, std::string hint = "") {
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

  // Adds the drawn kind, or if it would be too large or its rank does not allow
  // it, an elementwise compute.
  TensorId AddCompute(ComputeKind kind, const std::vector<TensorId>& inputs) {
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

  bool TooLarge() const {
    return Elements() > options_.max_elements || Points() > options_.max_points;
  }

  std::vector<Index> SpatialLike(absl::Span<const int64_t> shape) {
    std::vector<Index> indices;
    for (const int64_t extent : shape) indices.push_back(Spatial(extent));
    return indices;
  }

  Expr Unary(const Expr& x) {
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

  TensorId AddUnary(TensorId x) {
    const std::vector<Index> at = SpatialLike(ShapeOf(x));
    return Finish(Unary(Read(x, at)));
  }

  TensorId AddBinary(TensorId x, TensorId y) {
    const std::vector<int64_t> shape = ShapeOf(x);
    if (y < 0) {
      std::vector<int64_t> other(
          shape.begin() + random_.Index(shape.size() + 1), shape.end());
      for (int64_t& extent : other)
        extent = random_.Bernoulli(0.2) ? 1 : extent;
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

  Combiner::Kind DrawCombiner() {
    constexpr Combiner::Kind kKinds[] = {
        Combiner::Kind::kSum, Combiner::Kind::kSum, Combiner::Kind::kMax,
        Combiner::Kind::kMin};
    return kKinds[random_.Index(std::size(kKinds))];
  }

  TensorId AddReduce(TensorId x) {
    const std::vector<int64_t> shape = ShapeOf(x);
    std::vector<bool> reduced(shape.size(), false);
    reduced[random_.Index(shape.size())] = true;
    if (random_.Bernoulli(0.25)) reduced[random_.Index(shape.size())] = true;
    const bool keep = random_.Bernoulli(0.3);
    std::vector<Index> at(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!reduced[d]) {
        at[d] = Spatial(shape[d]);
      } else if (keep) {
        Spatial(1);
      }
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d]) at[d] = Reduced(shape[d]);
    }
    const Expr body = Read(x, at);
    if (reduce_axes_.size() == 1 && IsFloat(dtype_) &&
        random_.Bernoulli(0.12)) {
      const Expr index =
          Expr::Var(static_cast<int>(axes_.size()), reduce_axes_[0].name);
      const Combiner argmax(Combiner::Kind::kArgMax,
                            Combiner::DefaultAccumulator(body.dtype()));
      const Expr value =
          body.dtype() == argmax.acc() ? body : Expr::Cast(argmax.acc(), body);
      // The index goes on as a number of the graph's dtype.
      const DType dtype = body.dtype();
      return graph_.AddCompute("t", dtype,
                               Compute{std::move(axes_),
                                       std::move(reduce_axes_),
                                       argmax,
                                       {value, index},
                                       1});
    }
    return FinishReduce(DrawCombiner(), body);
  }

  // out[.., i, ..] over x[.., i·stride + k·dilation - pad, ..] for one axis, or
  // the two last; weighted also over channels.
  TensorId AddSliding(TensorId x, bool weighted) {
    const std::vector<int64_t> shape = ShapeOf(x);
    const int rank = static_cast<int>(shape.size());
    const int windows = rank >= 3 && random_.Bernoulli(0.7) ? 2 : 1;
    const int channel = weighted ? rank - windows - 1 : -1;
    if (weighted && channel < 0) return -1;
    struct Window {
      int64_t size, stride, dilation, pad, extent;
    };
    std::vector<Window> window;
    for (int d = rank - windows; d < rank; ++d) {
      Window w{random_.UniformInt(1, 3), random_.UniformInt(1, 2),
               random_.Bernoulli(0.2) ? 2 : 1, random_.UniformInt(0, 1), 0};
      w.extent =
          (shape[d] + 2 * w.pad - w.dilation * (w.size - 1) - 1) / w.stride + 1;
      // Every window must see the tensor: a maximum of padding alone is -inf,
      // and that times 0 is NaN.
      bool sees = shape[d] + 2 * w.pad >= w.dilation * (w.size - 1) + 1;
      for (int64_t i = 0; sees && i < w.extent; ++i) {
        bool inside = false;
        for (int64_t k = 0; k < w.size; ++k) {
          const int64_t at = i * w.stride + k * w.dilation - w.pad;
          inside |= at >= 0 && at < shape[d];
        }
        sees = inside;
      }
      if (!sees) w = {1, 1, 1, 0, shape[d]};
      window.push_back(w);
    }
    const int64_t channels_out =
        weighted ? std::min<int64_t>(DrawExtent(), 17) : 0;
    std::vector<Index> at(rank);
    Index out_channel;
    std::vector<Index> out(windows), inner(windows);
    for (int d = 0; d < rank - windows; ++d) {
      if (d == channel) {
        out_channel = Spatial(channels_out);
      } else {
        at[d] = Spatial(shape[d]);
      }
    }
    for (int w = 0; w < windows; ++w) out[w] = Spatial(window[w].extent);
    if (weighted) at[channel] = Reduced(shape[channel]);
    for (int w = 0; w < windows; ++w) inner[w] = Reduced(window[w].size);
    int64_t weight_elements = weighted ? channels_out * shape[channel] : 0;
    for (const Window& w : window) weight_elements *= w.size;
    if (TooLarge() || weight_elements > options_.max_elements) return -1;

    const Combiner::Kind kind =
        weighted ? Combiner::Kind::kSum : DrawCombiner();
    Expr guard;
    const auto add_guard = [&](const Expr& condition) {
      guard = guard ? Op2(Op::kAnd, guard, condition) : condition;
    };
    for (int w = 0; w < windows; ++w) {
      const int d = rank - windows + w;
      const Expr index = out[w].expr * Expr::Int(window[w].stride) +
                         inner[w].expr * Expr::Int(window[w].dilation) -
                         Expr::Int(window[w].pad);
      if (window[w].pad > 0) {
        add_guard(Op2(Op::kGe, index, Expr::Int(0)));
        add_guard(Op2(Op::kLt, index, Expr::Int(shape[d])));
      }
      at[d] = {index, shape[d]};
    }
    std::vector<Expr> indices;
    for (const Index& index : at) indices.push_back(index.expr);
    Expr body = graph_.Load(x, std::move(indices));
    if (guard) {
      const Expr outside = Combiner(kind, body.dtype()).Identity()[0];
      body = Expr::Make(Op::kSelect, {guard, body, outside});
    }
    if (weighted) {
      std::vector<int64_t> weight_shape = {channels_out, shape[channel]};
      std::vector<Expr> weight_at = {out_channel.expr, at[channel].expr};
      for (int w = 0; w < windows; ++w) {
        weight_shape.push_back(window[w].size);
        weight_at.push_back(inner[w].expr);
      }
      const TensorId weight = DrawInput(std::move(weight_shape));
      Expr factor = graph_.Load(weight, std::move(weight_at));
      if (factor.dtype() != body.dtype())
        factor = Expr::Cast(body.dtype(), factor);
      body = Op2(Op::kMul, body, factor);
    }
    return FinishReduce(kind, body, weighted ? "conv" : "");
  }

  TensorId AddTranspose(TensorId x) {
    const std::vector<int64_t> shape = ShapeOf(x);
    std::vector<int> order(shape.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    random_.Shuffle(absl::MakeSpan(order));
    std::vector<Index> at(shape.size());
    for (const int d : order) at[d] = Spatial(shape[d]);
    return Finish(Read(x, at));
  }

  TensorId AddSplit(TensorId x) {
    const std::vector<int64_t> shape = ShapeOf(x);
    const size_t axis = random_.Index(shape.size());
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d < shape[axis]; ++d) {
      if (shape[axis] % d == 0) divisors.push_back(d);
    }
    const int64_t inner = divisors.empty()
                              ? (random_.Bernoulli(0.5) ? 1 : shape[axis])
                              : divisors[random_.Index(divisors.size())];
    const bool swap =
        axis > 0 && random_.Bernoulli(0.5);  // [l, h·d] -> [h, l, d]
    std::vector<Index> at(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d == axis || (swap && d + 1 == axis)) {
        if (d != axis) continue;
        const Index high = Spatial(shape[axis] / inner);
        if (swap) at[axis - 1] = Spatial(shape[axis - 1]);
        const Index low = Spatial(inner);
        at[axis] = {high.expr * Expr::Int(inner) + low.expr, shape[axis]};
      } else {
        at[d] = Spatial(shape[d]);
      }
    }
    return Finish(Read(x, at));
  }

  TensorId AddMerge(TensorId x) {
    const std::vector<int64_t> shape = ShapeOf(x);
    const size_t last = 1 + random_.Index(shape.size() - 1);
    // [h, l, d] -> [l, h·d] when an axis lies between, else two neighbours.
    const size_t first =
        last >= 2 && random_.Bernoulli(0.5) ? last - 2 : last - 1;
    std::vector<Index> at(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d == first) continue;
      if (d != last) {
        at[d] = Spatial(shape[d]);
        continue;
      }
      const Index fused = Spatial(shape[first] * shape[last]);
      at[first] = {FloorDiv(fused.expr, Expr::Int(shape[last])), shape[first]};
      at[last] = {FloorMod(fused.expr, Expr::Int(shape[last])), shape[last]};
    }
    return Finish(Read(x, at));
  }

  TensorId AddWindow(TensorId x) {
    const std::vector<int64_t> shape = ShapeOf(x);
    const size_t axis = random_.Index(shape.size());
    const DType dtype = graph_.tensor(x).dtype;
    std::vector<int64_t> out_shape = shape;
    const bool pad = random_.Bernoulli(0.5) || shape[axis] == 1;
    const int64_t before = random_.UniformInt(0, 2),
                  after = random_.UniformInt(0, 2);
    const int64_t start = random_.UniformInt(0, shape[axis] - 1),
                  step = random_.UniformInt(1, 3);
    out_shape[axis] = pad ? shape[axis] + before + after
                          : (shape[axis] - start + step - 1) / step;
    std::vector<Index> at = SpatialLike(out_shape);
    if (TooLarge()) return -1;
    const Expr index = pad ? at[axis].expr - Expr::Int(before)
                           : at[axis].expr * Expr::Int(step) + Expr::Int(start);
    std::vector<Expr> indices;
    for (const Index& i : at) indices.push_back(i.expr);
    indices[axis] = index;
    const Expr load = graph_.Load(x, std::move(indices));
    if (!pad) return Finish(load);
    const Expr inside = Op2(Op::kAnd, Op2(Op::kGe, index, Expr::Int(0)),
                            Op2(Op::kLt, index, Expr::Int(shape[axis])));
    return Finish(Expr::Make(Op::kSelect, {inside, load, Number(0, dtype)}));
  }

  TensorId AddMatmul(TensorId x, TensorId y) {
    const std::vector<int64_t> shape = ShapeOf(x);
    if (y < 0)
      y = DrawInput(Fit({shape.back(), DrawExtent()}, options_.max_elements));
    const std::vector<int64_t> other = ShapeOf(y);
    const bool vector = other.size() < 2;
    std::vector<Index> a_at, b_at;
    for (size_t d = 0; d + 1 < shape.size(); ++d) {
      a_at.push_back(Spatial(shape[d]));
      if (d + 2 < shape.size())
        b_at.push_back(a_at.back());  // Batch dimensions are shared.
    }
    Index n;
    if (!vector) n = Spatial(other.back());
    const Index k = Reduced(shape.back());
    if (TooLarge()) return -1;
    a_at.push_back(k);
    b_at.push_back(k);
    if (!vector) b_at.push_back(n);
    const Expr a = Read(x, a_at);
    Expr b = Read(y, b_at);
    if (a.dtype() != b.dtype()) b = Expr::Cast(a.dtype(), b);
    return FinishReduce(Combiner::Kind::kSum, Op2(Op::kMul, a, b));
  }

  TensorId AddConcat(TensorId x, TensorId y) {
    const std::vector<int64_t> shape = ShapeOf(x);
    const size_t axis = random_.Index(shape.size());
    if (y < 0) {
      std::vector<int64_t> other = shape;
      other[axis] = random_.UniformInt(1, 3);
      y = DrawInput(Fit(std::move(other), options_.max_elements));
    }
    const std::vector<int64_t> other = ShapeOf(y);
    const size_t back = shape.size() - axis;  // The axis counted from the end.
    const int64_t extent =
        other.size() >= back ? other[other.size() - back] : 1;
    std::vector<int64_t> out_shape = shape;
    out_shape[axis] += extent;
    std::vector<Index> at = SpatialLike(out_shape);
    if (TooLarge()) return -1;
    const Expr first = Op2(Op::kLt, at[axis].expr, Expr::Int(shape[axis]));
    const Expr behind = at[axis].expr - Expr::Int(shape[axis]);
    at[axis].extent = shape[axis];
    const Expr a = Read(x, at);
    at[axis] = {behind, extent};
    Expr b = Read(y, at);
    if (a.dtype() != b.dtype()) b = Expr::Cast(a.dtype(), b);
    return Finish(Expr::Make(Op::kSelect, {first, a, b}));
  }

  Random random_;
  const RandomGraphOptions options_;
  DType dtype_;
  std::vector<int64_t> pool_;
  TensorGraph graph_;
  std::vector<Axis> axes_, reduce_axes_;
};

}  // namespace

TensorGraph BuildOnce(const GraphShape& shape, uint64_t seed,
                      const RandomGraphOptions& options) {
  return Builder(seed, options).Run(shape);
}

}  // namespace tilewright
