#include "tilegraph/rewrite/winograd.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/new_tensor.h"
#include "tilegraph/rewrite/winograd_transforms.h"

namespace tilewright {
namespace {

Expr Var(int id, const char* name) { return Expr::Var(id, name); }

Expr Scaled(double c, const Expr& value) {
  return c == 1 ? value : Expr::Make(Op::kMul, {Expr::Float(c), value});
}

// A row of a transform: a sum of coefficient * value over all values.
using RowSum = Expr (*)(const std::vector<double>& coefficients,
                        const std::function<Expr(int)>& value);

// The sum over every second value from `first` on, divided by `sign`, without
// zeros, ones and leading minus signs; empty if all are zeros.
Expr HalfSum(const std::vector<double>& coefficients, size_t first, double sign,
             const std::function<Expr(int)>& value) {
  Expr sum;
  for (const bool negative : {false, true}) {
    for (size_t i = first; i < coefficients.size(); i += 2) {
      const double c = coefficients[i] / (negative ? -sign : sign);
      if (c <= 0) continue;
      TW_CHECK(sum || !negative);
      const Expr term = Scaled(c, value(static_cast<int>(i)));
      sum =
          sum ? Expr::Make(negative ? Op::kSub : Op::kAdd, {sum, term}) : term;
    }
  }
  return sum;
}

// A row of B^T: a polynomial, whose even part that of the opposite point has
// too, and whose odd part it has with the other sign. Both are computed once.
Expr InputRow(const std::vector<double>& coefficients,
              const std::function<Expr(int)>& value) {
  double sign = 1;
  for (size_t i = 1; i < coefficients.size(); i += 2) {
    if (coefficients[i] != 0) sign = coefficients[i] < 0 ? -1 : 1;
  }
  const Expr even = HalfSum(coefficients, 0, 1, value),
             odd = HalfSum(coefficients, 1, sign, value);
  if (!even || !odd) return even ? even : odd;
  return Expr::Make(sign < 0 ? Op::kSub : Op::kAdd, {even, odd});
}

// A row of A^T: opposite points have coefficients of one magnitude, and rows
// the sums or differences of their values in common.
Expr OutputRow(const std::vector<double>& coefficients,
               const std::function<Expr(int)>& value) {
  Expr sum;
  const auto add = [&](double c, const Expr& term) {
    const Expr scaled = Scaled(c, term);
    sum = sum ? Expr::Make(Op::kAdd, {sum, scaled}) : scaled;
  };
  const int last = static_cast<int>(coefficients.size()) - 1;
  if (coefficients[0] != 0) add(coefficients[0], value(0));
  for (int i = 1; i < last; i += 2) {
    const bool same = coefficients[i] == coefficients[i + 1];
    add(coefficients[i],
        Expr::Make(same ? Op::kAdd : Op::kSub, {value(i), value(i + 1)}));
  }
  if (coefficients[last] != 0) add(coefficients[last], value(last));
  return sum;
}

// Row `index` of matrix * values, as a choice among all rows.
Expr Row(const WinogradTransforms::Matrix& matrix, RowSum row_sum,
         const Expr& index, const std::function<Expr(int)>& value) {
  Expr result;
  for (size_t i = matrix.size(); i-- > 0;) {
    const Expr row = row_sum(matrix[i], value);
    result = result
                 ? Expr::Make(
                       Op::kSelect,
                       {Expr::Make(Op::kEq,
                                   {index, Expr::Int(static_cast<int64_t>(i))}),
                        row, result})
                 : row;
  }
  return result;
}

// matrix * values * matrix^T at (row, column).
Expr Transformed(const WinogradTransforms::Matrix& matrix, RowSum row_sum,
                 const Expr& row, const Expr& column,
                 const std::function<Expr(int, int)>& value) {
  return Row(matrix, row_sum, column, [&](int x) {
    return Row(matrix, row_sum, row, [&](int y) { return value(y, x); });
  });
}

bool IsVar(const Expr& e, int id) {
  return e.op() == Op::kVar && e.var_id() == id;
}
bool IsSum(const Expr& e, int a, int b) {
  return e.op() == Op::kAdd &&
         ((IsVar(e.operand(0), a) && IsVar(e.operand(1), b)) ||
          (IsVar(e.operand(0), b) && IsVar(e.operand(1), a)));
}

// Axes n, o, h, w and c, kh, kw.
std::optional<WinogradConvolution> AsConvolution(const TensorGraph& graph,
                                                 const Tensor& tensor) {
  const Compute& compute = tensor.compute;
  if (tensor.kind != TensorKind::kCompute || !compute.combiner ||
      compute.combiner->kind() != Combiner::Kind::kSum ||
      compute.combiner->acc() != DType::kFloat32 ||
      tensor.dtype != DType::kFloat32 || compute.axes.size() != 4 ||
      compute.reduce_axes.size() != 3 ||
      compute.reduce_axes[1].extent.value() != 3 ||
      compute.reduce_axes[2].extent.value() != 3)
    return std::nullopt;
  const Expr& body = compute.body[0];
  if (body.op() != Op::kMul || body.operand(0).op() != Op::kLoad ||
      body.operand(1).op() != Op::kLoad)
    return std::nullopt;
  for (const int first : {0, 1}) {
    const Expr &data = body.operand(first), &weights = body.operand(1 - first);
    const Tensor& constant = graph.tensor(weights.source());
    if (constant.kind != TensorKind::kConstant || data.operands().size() != 4 ||
        weights.operands().size() != 4 || data.dtype() != DType::kFloat32 ||
        weights.dtype() != DType::kFloat32)
      continue;
    if (!IsVar(weights.operand(0), 1) || !IsVar(weights.operand(1), 4) ||
        !IsVar(weights.operand(2), 5) || !IsVar(weights.operand(3), 6) ||
        !IsVar(data.operand(0), 0) || !IsVar(data.operand(1), 4) ||
        !IsSum(data.operand(2), 2, 5) || !IsSum(data.operand(3), 3, 6))
      continue;
    return WinogradConvolution{
        tensor.id,
        data.source(),
        weights.source(),
        {compute.axes[0].extent.value(), compute.reduce_axes[0].extent.value(),
         compute.axes[1].extent.value(), compute.axes[2].extent.value(),
         compute.axes[3].extent.value()}};
  }
  return std::nullopt;
}

// Elements of data along an output's extent that tiles of `m` outputs read.
int64_t DataFor(int64_t extent, int64_t m) {
  return (extent + m - 1) / m * m + 2;
}

// The convolution's data with at least that many rows and columns: zeros that
// only outputs beyond the last see. `ids`: of the old graph's tensors in
// `graph`.
TensorId Padded(const TensorGraph& old, TensorId data_id, int64_t rows,
                int64_t columns, absl::Span<const TensorId> ids,
                TensorGraph& graph) {
  const Tensor& data = old.tensor(data_id);
  const std::vector<int64_t> have = data.static_shape();
  const std::vector<int64_t> more = {0, 0, std::max<int64_t>(0, rows - have[2]),
                                     std::max<int64_t>(0, columns - have[3])};
  if (more[2] == 0 && more[3] == 0) return ids[data.id];
  // More of the padding there is, or padding of its own.
  std::optional<ZeroPadding> padding = AsZeroPadding(old, data.id);
  if (!padding) padding = ZeroPadding{data.id, {0, 0, 0, 0}, {0, 0, 0, 0}};
  const std::vector<int64_t> inside =
      old.tensor(padding->source).static_shape();
  Compute compute;
  std::vector<Expr> index;
  Expr condition;
  for (int d = 0; d < 4; ++d) {
    const char* const names[] = {"n", "c", "h", "w"};
    const int64_t before = padding->before[d],
                  after = padding->after[d] + more[d];
    compute.axes.push_back({names[d], Dim(before + inside[d] + after)});
    const Expr at = Var(d, names[d]) - Expr::Int(before);
    index.push_back(at);
    const auto require = [&](const Expr& holds) {
      condition = condition ? Expr::Make(Op::kAnd, {condition, holds}) : holds;
    };
    if (before > 0) require(Expr::Make(Op::kGe, {at, Expr::Int(0)}));
    if (after > 0) require(Expr::Make(Op::kLt, {at, Expr::Int(inside[d])}));
  }
  compute.body = {Expr::Make(
      Op::kSelect,
      {condition, graph.Load(ids[padding->source], index), Expr::Float(0)})};
  return graph.AddCompute(absl::StrCat(data.name, ".tiles"), DType::kFloat32,
                          std::move(compute), "pad");
}

// `tensor` with what it loads of `from` loaded of `to`, and marked.
TensorId AddMarked(const Tensor& tensor, ComputeRole role, TensorId from,
                   TensorId to, std::vector<TensorId> ids, TensorGraph& graph) {
  ids[from] = to;
  Tensor marked = tensor;
  marked.hint = role;
  return CopyTensor(marked, ids, graph);
}

// V, M and Y of the convolution `tensor`, whose data and U have these ids in
// `graph`; the id of Y.
TensorId AddFiltering(const Tensor& tensor, const WinogradCase& shape, int m,
                      TensorId data, TensorId filters, TensorGraph& graph) {
  const WinogradTransforms transforms = WinogradTransformsOf(m);
  const int64_t t = m + 2;
  const int64_t rows = (shape.height + m - 1) / m,
                columns = (shape.width + m - 1) / m;
  Compute input;
  input.axes = {{"a", Dim(t)},           {"b", Dim(t)},
                {"n", Dim(shape.batch)}, {"y", Dim(rows)},
                {"x", Dim(columns)},     {"c", Dim(shape.in_channels)}};
  input.body = {Transformed(
      transforms.input, InputRow, Var(0, "a"), Var(1, "b"), [&](int y, int x) {
        return graph.Load(data, {Var(2, "n"), Var(5, "c"),
                                 Var(3, "y") * Expr::Int(m) + Expr::Int(y),
                                 Var(4, "x") * Expr::Int(m) + Expr::Int(x)});
      })};
  const TensorId v = graph.AddCompute(absl::StrCat(tensor.name, ".input"),
                                      DType::kFloat32, std::move(input));

  Compute products;
  products.axes = {{"a", Dim(t)},           {"b", Dim(t)},
                   {"n", Dim(shape.batch)}, {"y", Dim(rows)},
                   {"x", Dim(columns)},     {"o", Dim(shape.out_channels)}};
  products.reduce_axes = {{"c", Dim(shape.in_channels)}};
  products.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  products.body = {Expr::Make(
      Op::kMul, {graph.Load(v, {Var(0, "a"), Var(1, "b"), Var(2, "n"),
                                Var(3, "y"), Var(4, "x"), Var(6, "c")}),
                 graph.Load(filters, {Var(0, "a"), Var(1, "b"), Var(5, "o"),
                                      Var(6, "c")})})};
  const TensorId products_id =
      graph.AddCompute(absl::StrCat(tensor.name, ".products"), DType::kFloat32,
                       std::move(products));

  Compute output;
  output.axes = tensor.compute.axes;
  const Expr h = Var(2, "h"), w = Var(3, "w"), step = Expr::Int(m);
  output.body = {Transformed(
      transforms.output, OutputRow, FloorMod(h, step), FloorMod(w, step),
      [&](int a, int b) {
        return graph.Load(products_id,
                          {Expr::Int(a), Expr::Int(b), Var(0, "n"),
                           FloorDiv(h, step), FloorDiv(w, step), Var(1, "o")});
      })};
  return graph.AddCompute(tensor.name, DType::kFloat32, std::move(output));
}

}  // namespace

bool MayBeWinograd(const Tensor& tensor) {
  return tensor.hint.role() == ComputeRole::kWinograd2 ||
         tensor.hint.role() == ComputeRole::kWinograd4;
}

bool MayHaveLargeTiles(const TensorGraph& graph) {
  return std::any_of(graph.tensors().begin(), graph.tensors().end(),
                     [](const Tensor& tensor) {
                       return tensor.hint.role() == ComputeRole::kWinograd4;
                     });
}

RewrittenGraph MarkWinograd(
    const TensorGraph& old, ComputeRole role,
    const std::function<int(const WinogradCase&)>& choose) {
  TensorGraph graph;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : old.tensors()) {
    const std::optional<WinogradConvolution> convolution =
        AsConvolution(old, tensor);
    const int m = convolution ? choose(convolution->shape) : 0;
    if (m == 0) {
      ids.push_back(CopyTensor(tensor, ids, graph));
      continue;
    }
    const WinogradCase& shape = convolution->shape;
    const TensorId data =
        Padded(old, convolution->data, DataFor(shape.height, m),
               DataFor(shape.width, m), ids, graph);
    ids.push_back(AddMarked(tensor, role, convolution->data, data, ids, graph));
  }
  return FinishRewrite(old, std::move(graph), std::move(ids));
}

std::optional<WinogradConvolution> AsWinograd(const TensorGraph& graph,
                                              TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (!MayBeWinograd(tensor)) return std::nullopt;
  return AsConvolution(graph, tensor);
}

std::optional<WinogradConvolution> FindWinograd(const TensorGraph& graph) {
  std::optional<WinogradConvolution> found;
  for (const Tensor& tensor : graph.tensors()) {
    if (!MayBeWinograd(tensor)) continue;
    if (found) return std::nullopt;
    found = AsWinograd(graph, tensor.id);
  }
  if (!found || found->data == found->weights ||
      graph.Consumers()[found->weights].size() != 1)
    return std::nullopt;
  return found;
}

std::vector<int> WinogradTiles(const TensorGraph& graph,
                               const WinogradConvolution& convolution) {
  const WinogradCase& shape = convolution.shape;
  const std::vector<int64_t> data =
      graph.tensor(convolution.data).static_shape();
  std::vector<int> tiles;
  for (const int m : {2, 4}) {
    const bool allowed =
        m == 2 ||
        graph.tensor(convolution.output).hint.role() == ComputeRole::kWinograd4;
    if (allowed && data[2] >= DataFor(shape.height, m) &&
        data[3] >= DataFor(shape.width, m))
      tiles.push_back(m);
  }
  return tiles;
}

RewrittenGraph ToWinograd(const TensorGraph& old,
                          const WinogradConvolution& convolution, int m) {
  RewrittenGraph result;
  TensorGraph& graph = result.graph;
  std::vector<TensorId>& ids = result.ids;
  for (const Tensor& tensor : old.tensors()) {
    if (tensor.id == convolution.weights) {
      ids.push_back(
          graph.AddConstant(tensor.name, tensor.dtype,
                            WinogradFilterShape(tensor.static_shape(), m)));
    } else if (tensor.id == convolution.output) {
      ids.push_back(AddFiltering(tensor, convolution.shape, m,
                                 ids[convolution.data],
                                 ids[convolution.weights], graph));
    } else {
      ids.push_back(CopyTensor(tensor, ids, graph));
    }
  }
  std::vector<TensorId> outputs;
  for (const TensorId output : old.outputs()) outputs.push_back(ids[output]);
  graph.SetOutputs(std::move(outputs));
  return result;
}

HostTensor WinogradFilters(const HostTensor& weights, int m) {
  const WinogradTransforms::Matrix g = WinogradTransformsOf(m).filter;
  const int64_t t = m + 2, filters = weights.num_elements() / 9;
  HostTensor result =
      NewTensorOrThrow(DType::kFloat32, WinogradFilterShape(weights.shape(), m),
                       "transformed filters of a Winograd convolution");
  const absl::Span<const float> from = weights.as<float>();
  const absl::Span<float> to = result.as<float>();
  for (int64_t f = 0; f < filters; ++f) {
    for (int64_t a = 0; a < t; ++a) {
      for (int64_t b = 0; b < t; ++b) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j)
            sum += g[a][i] * g[b][j] *
                   static_cast<double>(from[f * 9 + i * 3 + j]);
        }
        to[(a * t + b) * filters + f] = static_cast<float>(sum);
      }
    }
  }
  return result;
}

std::vector<int64_t> WinogradFilterShape(absl::Span<const int64_t> weights,
                                         int m) {
  return {m + 2, m + 2, weights[0], weights[1]};
}

}  // namespace tilewright
