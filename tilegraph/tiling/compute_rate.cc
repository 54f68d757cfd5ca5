#include "tilegraph/tiling/compute_rate.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/spec/load_spec.h"
#include "tilegraph/families.h"

namespace tilewright {
namespace {

constexpr double kUnknownOpsPerS = 1e11;
// Shares of a core's peak: products of matrices and dense convolutions, whose
// operands are used from registers again; depthwise convolutions and pooling,
// which load an operand per operation; sums along rows; everything else.
constexpr double kContractionShare = 0.93, kWindowShare = 1, kRowShare = 0.65,
                 kMapShare = 0.37;
// A sum this long spends half its time in starting and storing: of products;
// of others whose terms lie one after the other, which lanes have to be added
// of. Windows are unrolled.
constexpr double kShortSum = 2, kShortRow = 150;

double FunctionOperations(Op op) {
  switch (op) {
    case Op::kExp:
    case Op::kLog:
    case Op::kSin:
    case Op::kCos:
      return 12;
    case Op::kErf:
      return 15;
    case Op::kTanh:
    case Op::kSigmoid:
      return 18;
    case Op::kPow:
      return 24;
    case Op::kDiv:
    case Op::kSqrt:
      return 6;
    default:
      return 1;
  }
}

double Operations(const Expr& body) {
  if (body.op() == Op::kLoad) return 0;
  if (body.op() == Op::kSelect)
    return 1 + Operations(body.operand(0)) +
           std::max(Operations(body.operand(1)), Operations(body.operand(2)));
  double count = 0;
  for (const Expr& operand : body.operands()) count += Operations(operand);
  const bool leaf = body.op() == Op::kConst || body.op() == Op::kVar;
  return leaf || body.op() == Op::kCast ? count
                                        : count + FunctionOperations(body.op());
}

// Whether terms of a sum are neighbours in memory.
bool SumsAlongMemory(const Compute& compute) {
  bool along = false;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& load) {
      if (load.op() != Op::kLoad || load.operands().empty()) return;
      Visit(load.operands().back(), [&](const Expr& e) {
        along |= e.op() == Op::kVar &&
                 static_cast<size_t>(e.var_id()) >= compute.axes.size();
      });
    });
  }
  return along;
}

double PeakFor(DType dtype, const DeviceSpec& spec) {
  const bool bytes = dtype == DType::kInt8 || dtype == DType::kUInt8;
  const std::string_view name = bytes                       ? "i8"
                                : dtype == DType::kBFloat16 ? "bf16"
                                : dtype == DType::kFloat64  ? "f64"
                                                            : "f32";
  double peak = CorePeak(spec, name, PeakRate::VECTOR);
  if (peak <= 0) peak = CorePeak(spec, "f32", PeakRate::VECTOR);
  return peak > 0 ? peak : kUnknownOpsPerS;
}

}  // namespace

ComputeRate RateOf(const TensorGraph& graph, TensorId id,
                   const DeviceSpec& spec) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  ComputeRate rate;
  DType dtype = tensor.dtype;
  for (const TensorId input : graph.Inputs(id)) {
    const DType read = graph.tensor(input).dtype;
    if (SizeBytes(read) < SizeBytes(dtype)) dtype = read;
  }
  if (!compute.combiner) {
    rate.is_map = true;
    rate.ops_per_s = kMapShare * PeakFor(tensor.dtype, spec);
    return rate;
  }
  double terms = 1;
  for (const Axis& axis : compute.reduce_axes)
    terms *= static_cast<double>(axis.extent.value());
  switch (FamilyOf(graph, id)) {
    case ComputeFamily::kConvolution:
    case ComputeFamily::kContraction:
      rate.ops_per_s = kContractionShare * PeakFor(dtype, spec) * terms /
                       (terms + kShortSum);
      rate.rows_wanted = 0.8;
      rate.hides_maps = true;
      return rate;
    case ComputeFamily::kDepthwise:
    case ComputeFamily::kPooling:
      rate.ops_per_s = kWindowShare * PeakFor(tensor.dtype, spec);
      rate.hides_maps = true;
      break;
    default: {
      const double is_short = SumsAlongMemory(compute) ? kShortRow : kShortSum;
      rate.ops_per_s =
          kRowShare * PeakFor(tensor.dtype, spec) * terms / (terms + is_short);
    }
  }
  rate.along_output = false;
  return rate;
}

std::vector<bool> RowAxes(const Compute& compute, int vector_dim) {
  std::vector<bool> rows(compute.axes.size(), true);
  for (const std::vector<bool>& load : LoadedAxes(compute)) {
    if (vector_dim < 0 || !load[vector_dim]) continue;
    for (size_t d = 0; d < rows.size(); ++d) rows[d] = rows[d] && !load[d];
  }
  return rows;
}

double WeightedOperations(const Compute& compute) {
  double count = compute.combiner ? 1 : 0;
  for (const Expr& body : compute.body) count += Operations(body);
  return count;
}

}  // namespace tilewright
