// Resize and Upsample. Sizes are known when compiling, so where each output
// position reads from and with which weights are constant tables.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/tensor_proto.h"

namespace tilewright {
namespace {

// Of an output dimension, and of a table.
constexpr double kLargest = 1 << 22;

enum class Mode { kNearest, kLinear, kCubic };

struct ResizeSpec {
  Mode mode = Mode::kNearest;
  std::string coordinates;
  std::string rounding;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  std::vector<double> scale;  // per dimension
  Shape shape;
};

absl::StatusOr<std::vector<double>> ConstNumbers(const OpContext& op, int i) {
  if (IsInteger(op.dtype(i))) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, op.ConstInts(i));
    return std::vector<double>(ints.begin(), ints.end());
  }
  const auto& constant = op.input(i).constant;
  if (constant == nullptr) return op.NotConstant(i);
  std::vector<double> values;
  for (int64_t k = 0; k < constant->num_elements(); ++k) {
    values.push_back(constant->Get(k).f);
  }
  return values;
}

absl::Status ReadMode(const OpContext& op, ResizeSpec& spec) {
  const std::string mode = op.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic" &&
      mode != "bilinear") {
    return op.Error("attribute 'mode' is ", Quoted(mode),
                    "; it must be nearest, linear or cubic");
  }
  spec.mode = mode == "nearest" ? Mode::kNearest
              : mode == "cubic" ? Mode::kCubic
                                : Mode::kLinear;
  const bool old = op.opset() < 11;
  spec.coordinates = op.String("coordinate_transformation_mode",
                               old ? "asymmetric" : "half_pixel");
  spec.rounding =
      op.String("nearest_mode", old ? "floor" : "round_prefer_floor");
  spec.antialias = op.Int("antialias", 0) != 0;
  spec.exclude_outside = op.Int("exclude_outside", 0) != 0;
  spec.cubic_a = op.Float("cubic_coeff_a", -0.75f);
  for (const char* known :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
        "align_corners", "asymmetric"}) {
    if (spec.coordinates == known) return absl::OkStatus();
  }
  return op.Unsupported("coordinate_transformation_mode ",
                        Quoted(spec.coordinates));
}

// sizes, of which the largest or smallest scale may count for all axes.
void KeepAspect(const std::string& policy, const Shape& from,
                const std::vector<int>& axes, std::vector<double>& sizes) {
  if (policy == "stretch") return;
  double scale = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    const double own = sizes[k] / static_cast<double>(from[axes[k]]);
    const bool better = policy == "not_larger" ? own < scale : own > scale;
    if (k == 0 || better) scale = own;
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    sizes[k] = std::floor(scale * static_cast<double>(from[axes[k]]) + 0.5);
  }
}

absl::StatusOr<ResizeSpec> ReadResize(const OpContext& op) {
  ResizeSpec spec;
  TW_RETURN_IF_ERROR(ReadMode(op, spec));
  const Shape& from = op.shape(0);
  const int rank = op.rank(0);
  if (Product(from, 0, rank) == 0)
    return op.Unsupported("a tensor without elements, ", ShapeText(from));
  std::vector<int64_t> named = op.Ints("axes");
  if (named.empty()) {
    for (int d = 0; d < rank; ++d) named.push_back(d);
  }
  TW_RETURN_IF_ERROR(op.Axes(named, rank));
  std::vector<int> axes;
  for (const int64_t axis : named) {
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  // Where scales and sizes are changed with the opset.
  const int scales_input = op.opset() < 11 ? 1 : 2;
  std::vector<double> scales, sizes;
  if (op.HasAttribute("scales")) {
    for (const float scale : op.Floats("scales")) scales.push_back(scale);
  } else if (op.has_input(scales_input) &&
             Product(op.shape(scales_input), 0, op.rank(scales_input)) > 0) {
    TW_ASSIGN_OR_RETURN(scales, ConstNumbers(op, scales_input));
  } else if (op.has_input(3)) {
    TW_ASSIGN_OR_RETURN(sizes, ConstNumbers(op, 3));
  }
  const std::vector<double>& given = scales.empty() ? sizes : scales;
  const bool positive =
      std::all_of(given.begin(), given.end(),
                  [](double value) { return value > 0 && value < kLargest; });
  if (given.size() != axes.size() || !positive) {
    return op.Error("there are ", given.size(), " scales or sizes for ",
                    axes.size(),
                    " axes; there must be one positive number each");
  }
  KeepAspect(op.String("keep_aspect_ratio_policy", "stretch"), from, axes,
             sizes);
  spec.shape = from;
  spec.scale.assign(rank, 1);
  for (size_t k = 0; k < axes.size(); ++k) {
    const double extent = static_cast<double>(from[axes[k]]);
    const double out =
        scales.empty() ? sizes[k] : std::floor(extent * scales[k]);
    if (!(out >= 1 && out < kLargest)) {
      return op.Error("dimension ", axes[k], " of ", ShapeText(from),
                      " becomes ", out);
    }
    spec.shape[axes[k]] = static_cast<int64_t>(out);
    spec.scale[axes[k]] = scales.empty() ? out / extent : scales[k];
  }
  return spec;
}

// Where output position `o` lies in the input.
double Source(const ResizeSpec& spec, double scale, int64_t input,
              int64_t output, int64_t o) {
  const double x = static_cast<double>(o);
  const double half_pixel = (x + 0.5) / scale - 0.5;
  const double in = static_cast<double>(input);
  const double out = static_cast<double>(output);
  if (spec.coordinates == "asymmetric") return x / scale;
  if (spec.coordinates == "align_corners") {
    // As ONNX's reference, with the length before it is rounded down.
    return in * scale == 1 ? 0 : x * (in - 1) / (in * scale - 1);
  }
  if (spec.coordinates == "pytorch_half_pixel") {
    return output == 1 ? 0 : half_pixel;
  }
  if (spec.coordinates == "half_pixel_symmetric") {
    return in / 2 * (1 - out / (in * scale)) + half_pixel;
  }
  return half_pixel;
}

int64_t Nearest(const ResizeSpec& spec, double x, int64_t input) {
  double at = std::floor(x);
  if (spec.rounding == "ceil") {
    at = std::ceil(x);
  } else if (spec.rounding == "round_prefer_floor") {
    at = std::ceil(x - 0.5);
  } else if (spec.rounding == "round_prefer_ceil") {
    at = std::floor(x + 0.5);
  }
  return std::clamp<int64_t>(static_cast<int64_t>(at), 0, input - 1);
}

double CubicWeight(double a, double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// For every output position of one dimension, `taps` positions and weights.
struct Table {
  int64_t taps = 1;
  std::vector<int64_t> position;
  std::vector<double> weight;
};

Table TableOf(const ResizeSpec& spec, int d, int64_t input) {
  const int64_t output = spec.shape[d];
  const double scale = spec.scale[d];
  const double shrink = spec.antialias ? std::min(scale, 1.0) : 1;
  const double reach = spec.mode == Mode::kCubic ? 2 : 1;
  const int64_t start = static_cast<int64_t>(std::floor(-reach / shrink)) + 1;
  Table table;
  table.taps = static_cast<int64_t>(2 * (1 - start));
  for (int64_t o = 0; o < output; ++o) {
    const double x = Source(spec, scale, input, output, o);
    const double base = std::ceil(x) - 1;
    std::vector<double> weight;
    double sum = 0;
    for (int64_t k = 0; k < table.taps; ++k) {
      const double at = base + static_cast<double>(start + k);
      const double distance = (at - x) * shrink;
      double w = spec.mode == Mode::kCubic
                     ? CubicWeight(spec.cubic_a, distance)
                     : std::max(0.0, 1 - std::abs(distance));
      if (spec.exclude_outside &&
          (at < 0 || at >= static_cast<double>(input))) {
        w = 0;
      }
      weight.push_back(w);
      sum += w;
      table.position.push_back(
          std::clamp<int64_t>(static_cast<int64_t>(at), 0, input - 1));
    }
    for (const double w : weight) {
      table.weight.push_back(sum == 0 ? 0 : w / sum);
    }
  }
  return table;
}

absl::Status InferResize(OpContext& op) {
  TW_ASSIGN_OR_RETURN(ResizeSpec spec, ReadResize(op));
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    const double taps =
        spec.antialias ? 2 + 4 / std::min(spec.scale[d], 1.0) : 4;
    if (taps * static_cast<double>(spec.shape[d]) > 4 * kLargest &&
        spec.scale[d] != 1) {
      return op.Unsupported("dimension ", d, " of ", ShapeText(op.shape(0)),
                            " resized by ", spec.scale[d]);
    }
  }
  TW_RETURN_IF_ERROR(RequireType(
      op, 0,
      spec.mode == Mode::kNearest ? TypeClass::kAny : TypeClass::kFloat));
  op.SetOutput(0, op.dtype(0), std::move(spec.shape));
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> IntTable(const OpContext& op,
                                    const std::vector<int64_t>& values,
                                    Shape shape) {
  TW_ASSIGN_OR_RETURN(HostTensor tensor,
                      op.NewTensor(DType::kInt64, std::move(shape)));
  std::copy(values.begin(), values.end(), tensor.as<int64_t>().begin());
  return tensor;
}

// A position out of a table, all of which lie in [0, extent).
Expr Position(const ImportContext& in, TensorId table, std::vector<Expr> index,
              int64_t extent) {
  // The tables are constants, but bounds are found from expressions alone.
  const Expr at = in.At(table, std::move(index));
  return Binary(Op::kMin, Binary(Op::kMax, at, Expr::Int(0)),
                Expr::Int(extent - 1));
}

// Each output position copies one element; whole factors need no table.
absl::Status ImportNearest(ImportContext& in, const ResizeSpec& spec) {
  const Shape& from = in.op().shape(0);
  std::vector<TensorId> tables(from.size(), -1);
  std::vector<int64_t> factor(from.size(), 0);
  for (size_t d = 0; d < from.size(); ++d) {
    std::vector<int64_t> position;
    for (int64_t o = 0; o < spec.shape[d]; ++o) {
      position.push_back(
          Nearest(spec, Source(spec, spec.scale[d], from[d], spec.shape[d], o),
                  from[d]));
    }
    const int64_t whole = std::max<int64_t>(1, spec.shape[d] / from[d]);
    bool is_whole = true;
    for (int64_t o = 0; o < spec.shape[d]; ++o) {
      is_whole &= position[o] == o / whole;
    }
    if (is_whole) {
      factor[d] = whole;
    } else {
      TW_ASSIGN_OR_RETURN(HostTensor table,
                          IntTable(in.op(), position, {spec.shape[d]}));
      tables[d] =
          in.Constant(in.Name(0, absl::StrCat("from", d)), std::move(table));
    }
  }
  return EmitMove(in, false, [&](absl::Span<const Expr> index) {
    std::vector<Expr> at;
    for (size_t d = 0; d < from.size(); ++d) {
      at.push_back(factor[d] > 0
                       ? FloorDiv(index[d], Expr::Int(factor[d]))
                       : Position(in, tables[d], {index[d]}, from[d]));
    }
    return at;
  });
}

// What one dimension contributes: constants of [output, taps].
struct Interpolation {
  int dimension;
  int64_t extent;  // of the input
  int64_t taps;
  TensorId position, weight;

  Expr At(const ImportContext& in, absl::Span<const Expr> index,
          const Expr& tap) const {
    return Position(in, position, {index[dimension], tap}, extent);
  }
  Expr Weight(const ImportContext& in, absl::Span<const Expr> index,
              const Expr& tap) const {
    return in.At(weight, {index[dimension], tap});
  }
};

absl::StatusOr<Interpolation> InterpolationOf(ImportContext& in,
                                              const ResizeSpec& spec, int d,
                                              DType acc) {
  const int64_t extent = in.op().shape(0)[d], output = spec.shape[d];
  const Table table = TableOf(spec, d, extent);
  TW_ASSIGN_OR_RETURN(HostTensor weights,
                      in.op().NewTensor(acc, {output, table.taps}));
  for (size_t k = 0; k < table.weight.size(); ++k) {
    weights.Set(static_cast<int64_t>(k), Scalar{table.weight[k], 0});
  }
  TW_ASSIGN_OR_RETURN(HostTensor positions,
                      IntTable(in.op(), table.position, {output, table.taps}));
  const TensorId position =
      in.Constant(in.Name(0, absl::StrCat("from", d)), std::move(positions));
  return Interpolation{
      d, extent, table.taps, position,
      in.Constant(in.Name(0, absl::StrCat("weight", d)), std::move(weights))};
}

// All dimensions at once, which has few terms: a sum of weighted sums, the last
// dimension inside.
absl::Status ImportTogether(ImportContext& in, const ResizeSpec& spec,
                            const std::vector<int>& axes, DType acc) {
  std::vector<Interpolation> along;
  for (const int d : axes) {
    TW_ASSIGN_OR_RETURN(Interpolation one, InterpolationOf(in, spec, d, acc));
    along.push_back(std::move(one));
  }
  in.EmitElementwise(0, "resize", [&](absl::Span<const Expr> index) {
    const std::function<Expr(size_t, std::vector<Expr>)> sum =
        [&](size_t step, std::vector<Expr> at) {
          if (step == along.size())
            return CastTo(acc, in.At(in.input(0), std::move(at)));
          Expr total;
          for (int64_t tap = 0; tap < along[step].taps; ++tap) {
            const Expr number = Expr::Int(tap);
            at[along[step].dimension] = along[step].At(in, index, number);
            const Expr term = Binary(Op::kMul, sum(step + 1, at),
                                     along[step].Weight(in, index, number));
            total = tap == 0 ? term : Binary(Op::kAdd, total, term);
          }
          return total;
        };
    return sum(0, {index.begin(), index.end()});
  });
  return absl::OkStatus();
}

absl::Status ImportResize(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const ResizeSpec spec, ReadResize(op));
  if (spec.shape == op.shape(0) &&
      std::all_of(spec.scale.begin(), spec.scale.end(),
                  [](double scale) { return scale == 1; })) {
    in.SetOutput(0, in.input(0));
    return absl::OkStatus();
  }
  if (spec.mode == Mode::kNearest) return ImportNearest(in, spec);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  Shape shape = op.shape(0);
  std::vector<int> axes;
  for (int d = 0; d < op.rank(0); ++d) {
    if (spec.scale[d] != 1 || spec.shape[d] != shape[d]) axes.push_back(d);
  }
  if (spec.mode == Mode::kLinear && !spec.antialias && axes.size() <= 2)
    return ImportTogether(in, spec, axes, acc);
  TensorId x = in.input(0);
  // One dimension after the other.
  for (size_t step = 0; step < axes.size(); ++step) {
    const int d = axes[step];
    const bool is_last = step + 1 == axes.size();
    TW_ASSIGN_OR_RETURN(const Interpolation along,
                        InterpolationOf(in, spec, d, acc));
    shape[d] = spec.shape[d];
    std::vector<NamedAxis> out;
    for (size_t k = 0; k < shape.size(); ++k) {
      out.push_back({absl::StrCat("d", k), shape[k]});
    }
    const TensorId source = x;
    x = in.Reduction(
        in.Name(0, is_last ? "" : absl::StrCat("along", d)),
        is_last ? op.dtype(0) : acc, out, {{"tap", along.taps}},
        Combiner::Kind::kSum, "resize",
        [&](absl::Span<const Expr> index, absl::Span<const Expr> tap) {
          std::vector<Expr> at(index.begin(), index.end());
          at[d] = along.At(in, index, tap[0]);
          return Binary(Op::kMul, CastTo(acc, in.At(source, std::move(at))),
                        along.Weight(in, index, tap[0]));
        });
  }
  in.SetOutput(0, x);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Resize", 10, 2, 2, InferResize, ImportResize},
    {"Resize", 11, 1, 4, InferResize, ImportResize},
    {"Upsample", 7, 1, 1, InferResize, ImportResize},
    {"Upsample", 9, 2, 2, InferResize, ImportResize},
};

}  // namespace

absl::Span<const OpDef> ResizeOps() { return kOps; }

}  // namespace tilewright
