#include "tilegraph/winograd.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/access.h"

namespace tilewright {
namespace {

// Appended to the convolution's name.
constexpr char kInputSuffix[] = ".input";
constexpr char kProductsSuffix[] = ".products";

using Matrix = std::vector<std::vector<double>>;

struct Transforms {
  Matrix input;   // B^T: t x t
  Matrix filter;  // G: t x 3
  Matrix output;  // A^T: m x t
};

Transforms TransformsOf(int m) {
  if (m == 2) {
    return {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
            {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
            {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  }
  TW_CHECK_EQ(m, 4);
  return {{{4, 0, -5, 0, 1, 0},
           {0, -4, -4, 1, 1, 0},
           {0, 4, -4, -1, 1, 0},
           {0, -2, -1, 2, 1, 0},
           {0, 2, -1, -2, 1, 0},
           {0, 4, 0, -5, 0, 1}},
          {{1.0 / 4, 0, 0},
           {-1.0 / 6, -1.0 / 6, -1.0 / 6},
           {-1.0 / 6, 1.0 / 6, -1.0 / 6},
           {1.0 / 24, 1.0 / 12, 1.0 / 6},
           {1.0 / 24, -1.0 / 12, 1.0 / 6},
           {0, 0, 1}},
          {{1, 1, 1, 1, 1, 0},
           {0, 1, -1, 2, -2, 0},
           {0, 1, 1, 4, 4, 0},
           {0, 1, -1, 8, -8, 1}}};
}

Expr Var(int id, const char* name) { return Expr::Var(id, name); }

// The sum of coefficient * value, without zeros, ones and leading minus signs.
Expr Combination(const std::vector<double>& coefficients,
                 const std::function<Expr(int)>& value) {
  Expr sum;
  for (const bool negative : {false, true}) {
    for (size_t i = 0; i < coefficients.size(); ++i) {
      const double c = negative ? -coefficients[i] : coefficients[i];
      if (c <= 0) continue;
      Expr term = value(static_cast<int>(i));
      if (c != 1) term = Expr::Make(Op::kMul, {Expr::Float(c), term});
      if (sum) {
        term = Expr::Make(negative ? Op::kSub : Op::kAdd, {sum, term});
      } else {
        TW_CHECK(!negative);
      }
      sum = term;
    }
  }
  return sum;
}

// Row `index` of matrix * values, as a choice among all rows.
Expr Row(const Matrix& matrix, const Expr& index,
         const std::function<Expr(int)>& value) {
  Expr result;
  for (size_t i = matrix.size(); i-- > 0;) {
    const Expr row = Combination(matrix[i], value);
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
Expr Transformed(const Matrix& matrix, const Expr& row, const Expr& column,
                 const std::function<Expr(int, int)>& value) {
  return Row(matrix, column, [&](int x) {
    return Row(matrix, row, [&](int y) { return value(y, x); });
  });
}

// A convolution's parts: data [n, c, h, w] with nothing outside it read,
// weights [o, c, 3, 3].
struct Convolution {
  TensorId data, weights;
  WinogradCase shape;
};

bool IsVar(const Expr& e, int id) {
  return e.op() == Op::kVar && e.var_id() == id;
}
bool IsSum(const Expr& e, int a, int b) {
  return e.op() == Op::kAdd &&
         ((IsVar(e.operand(0), a) && IsVar(e.operand(1), b)) ||
          (IsVar(e.operand(0), b) && IsVar(e.operand(1), a)));
}

// Axes n, o, h, w and c, kh, kw.
std::optional<Convolution> AsConvolution(const TensorGraph& graph,
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
    if (constant.kind != TensorKind::kConstant || constant.value == nullptr ||
        data.operands().size() != 4 || weights.operands().size() != 4 ||
        data.dtype() != DType::kFloat32 || weights.dtype() != DType::kFloat32)
      continue;
    if (!IsVar(weights.operand(0), 1) || !IsVar(weights.operand(1), 4) ||
        !IsVar(weights.operand(2), 5) || !IsVar(weights.operand(3), 6) ||
        !IsVar(data.operand(0), 0) || !IsVar(data.operand(1), 4) ||
        !IsSum(data.operand(2), 2, 5) || !IsSum(data.operand(3), 3, 6))
      continue;
    return Convolution{
        data.source(),
        weights.source(),
        {compute.axes[0].extent.value(), compute.reduce_axes[0].extent.value(),
         compute.axes[1].extent.value(), compute.axes[2].extent.value(),
         compute.axes[3].extent.value()}};
  }
  return std::nullopt;
}

class WinogradRewriter {
 public:
  WinogradRewriter(const TensorGraph& graph,
                   const std::function<int(const WinogradCase&)>& choose)
      : old_(graph), choose_(choose) {}

  RewrittenGraph Run() {
    for (const Tensor& tensor : old_.tensors()) {
      std::optional<Convolution> convolution = AsConvolution(old_, tensor);
      if (convolution) convolution->shape.name = tensor.name;
      const int m = convolution ? choose_(convolution->shape) : 0;
      ids_.push_back(m == 0 ? CopyTensor(tensor, ids_, new_)
                            : AddFiltering(tensor, *convolution, m));
    }
    return FinishRewrite(old_, std::move(new_), std::move(ids_));
  }

 private:
  TensorId AddFiltering(const Tensor& tensor, const Convolution& convolution,
                        int m) {
    const WinogradCase& shape = convolution.shape;
    const Transforms transforms = TransformsOf(m);
    const int64_t t = m + 2;
    const int64_t rows = (shape.height + m - 1) / m,
                  columns = (shape.width + m - 1) / m;
    const TensorId data = Padded(convolution, m * rows + 2, m * columns + 2);
    const TensorId weights = Filters(tensor.name, convolution, transforms);

    Compute input;
    input.axes = {{"a", Dim(t)},           {"b", Dim(t)},
                  {"n", Dim(shape.batch)}, {"y", Dim(rows)},
                  {"x", Dim(columns)},     {"c", Dim(shape.in_channels)}};
    input.body = {Transformed(
        transforms.input, Var(0, "a"), Var(1, "b"), [&](int y, int x) {
          return new_.Load(data, {Var(2, "n"), Var(5, "c"),
                                  Var(3, "y") * Expr::Int(m) + Expr::Int(y),
                                  Var(4, "x") * Expr::Int(m) + Expr::Int(x)});
        })};
    const TensorId v =
        new_.AddCompute(absl::StrCat(tensor.name, kInputSuffix),
                        DType::kFloat32, std::move(input), kWinogradInputHint);

    Compute products;
    products.axes = {{"a", Dim(t)},           {"b", Dim(t)},
                     {"n", Dim(shape.batch)}, {"y", Dim(rows)},
                     {"x", Dim(columns)},     {"o", Dim(shape.out_channels)}};
    products.reduce_axes = {{"c", Dim(shape.in_channels)}};
    products.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
    products.body = {Expr::Make(
        Op::kMul, {new_.Load(v, {Var(0, "a"), Var(1, "b"), Var(2, "n"),
                                 Var(3, "y"), Var(4, "x"), Var(6, "c")}),
                   new_.Load(weights, {Var(0, "a"), Var(1, "b"), Var(5, "o"),
                                       Var(6, "c")})})};
    const TensorId products_id =
        new_.AddCompute(absl::StrCat(tensor.name, kProductsSuffix),
                        DType::kFloat32, std::move(products), kWinogradHint);

    Compute output;
    output.axes = tensor.compute.axes;
    const Expr h = Var(2, "h"), w = Var(3, "w"), step = Expr::Int(m);
    output.body = {Transformed(
        transforms.output, FloorMod(h, step), FloorMod(w, step),
        [&](int a, int b) {
          return new_.Load(products_id,
                           {Expr::Int(a), Expr::Int(b), Var(0, "n"),
                            FloorDiv(h, step), FloorDiv(w, step), Var(1, "o")});
        })};
    return new_.AddCompute(tensor.name, DType::kFloat32, std::move(output),
                           kWinogradOutputHint);
  }

  // The convolution's data with at least that many rows and columns: zeros that
  // only outputs beyond the last see.
  TensorId Padded(const Convolution& convolution, int64_t rows,
                  int64_t columns) {
    const Tensor& data = old_.tensor(convolution.data);
    const std::vector<int64_t> have = data.static_shape();
    const std::vector<int64_t> more = {0, 0, rows - have[2], columns - have[3]};
    if (more[2] == 0 && more[3] == 0) return ids_[data.id];
    // More of the padding there is, or padding of its own.
    std::optional<ZeroPadding> padding = AsZeroPadding(old_, data.id);
    if (!padding) padding = ZeroPadding{data.id, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const std::vector<int64_t> inside =
        old_.tensor(padding->source).static_shape();
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
        condition =
            condition ? Expr::Make(Op::kAnd, {condition, holds}) : holds;
      };
      if (before > 0) require(Expr::Make(Op::kGe, {at, Expr::Int(0)}));
      if (after > 0) require(Expr::Make(Op::kLt, {at, Expr::Int(inside[d])}));
    }
    compute.body = {Expr::Make(
        Op::kSelect,
        {condition, new_.Load(ids_[padding->source], index), Expr::Float(0)})};
    return new_.AddCompute(absl::StrCat(data.name, ".tiles"), DType::kFloat32,
                           std::move(compute), "pad");
  }

  // U = G W G^T, rounded once.
  TensorId Filters(const std::string& name, const Convolution& convolution,
                   const Transforms& transforms) {
    const HostTensor& weights = *old_.tensor(convolution.weights).value;
    const Matrix& g = transforms.filter;
    const int64_t t = static_cast<int64_t>(g.size()),
                  filters = convolution.shape.out_channels *
                            convolution.shape.in_channels;
    auto result = std::make_shared<HostTensor>(
        DType::kFloat32,
        std::vector<int64_t>{t, t, convolution.shape.out_channels,
                             convolution.shape.in_channels});
    const absl::Span<const float> from = weights.as<float>();
    const absl::Span<float> to = result->as<float>();
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
    return new_.AddConstant(absl::StrCat(name, ".filters"), std::move(result));
  }

  const TensorGraph& old_;
  const std::function<int(const WinogradCase&)>& choose_;
  TensorGraph new_;
  std::vector<TensorId> ids_;
};

}  // namespace

std::optional<std::string> WinogradConvolution(const Tensor& tensor) {
  const auto without = [&](const std::string& suffix) {
    return tensor.name.substr(0, tensor.name.size() - suffix.size());
  };
  if (tensor.hint == kWinogradInputHint) return without(kInputSuffix);
  if (tensor.hint == kWinogradHint) return without(kProductsSuffix);
  if (tensor.hint == kWinogradOutputHint) return tensor.name;
  return std::nullopt;
}

RewrittenGraph RewriteWinograd(
    const TensorGraph& graph,
    const std::function<int(const WinogradCase&)>& choose) {
  return WinogradRewriter(graph, choose).Run();
}

}  // namespace tilewright
