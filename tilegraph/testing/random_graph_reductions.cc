// Computes that reduce: over axes, products of matrices, and sliding windows.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tilegraph/testing/random_graph_builder.h"

namespace tilewright {

Combiner::Kind RandomGraphBuilder::DrawCombiner() {
  constexpr Combiner::Kind kKinds[] = {
      Combiner::Kind::kSum, Combiner::Kind::kSum, Combiner::Kind::kMax,
      Combiner::Kind::kMin};
  return kKinds[random_.Index(std::size(kKinds))];
}

TensorId RandomGraphBuilder::AddReduce(TensorId x) {
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
  if (reduce_axes_.size() == 1 && IsFloat(dtype_) && random_.Bernoulli(0.12)) {
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

TensorId RandomGraphBuilder::AddMatmul(TensorId x, TensorId y) {
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

RandomGraphBuilder::Window RandomGraphBuilder::DrawWindow(int64_t extent) {
  Window w{random_.UniformInt(1, 3), random_.UniformInt(1, 2),
           random_.Bernoulli(0.2) ? 2 : 1, random_.UniformInt(0, 1), 0};
  w.extent =
      (extent + 2 * w.pad - w.dilation * (w.size - 1) - 1) / w.stride + 1;
  // Every window must see the tensor: a maximum of padding alone is -inf, and
  // that times 0 is NaN.
  bool sees = extent + 2 * w.pad >= w.dilation * (w.size - 1) + 1;
  for (int64_t i = 0; sees && i < w.extent; ++i) {
    bool inside = false;
    for (int64_t k = 0; k < w.size; ++k) {
      const int64_t at = i * w.stride + k * w.dilation - w.pad;
      inside |= at >= 0 && at < extent;
    }
    sees = inside;
  }
  return sees ? w : Window{1, 1, 1, 0, extent};
}

TensorId RandomGraphBuilder::AddSliding(TensorId x, bool weighted) {
  const std::vector<int64_t> shape = ShapeOf(x);
  const int rank = static_cast<int>(shape.size());
  const int windows = rank >= 3 && random_.Bernoulli(0.7) ? 2 : 1;
  const int channel = weighted ? rank - windows - 1 : -1;
  if (weighted && channel < 0) return -1;
  std::vector<Window> window;
  for (int d = rank - windows; d < rank; ++d)
    window.push_back(DrawWindow(shape[d]));
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

  const Combiner::Kind kind = weighted ? Combiner::Kind::kSum : DrawCombiner();
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

}  // namespace tilewright
