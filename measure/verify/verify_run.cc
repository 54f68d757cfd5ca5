#include "measure/verify/verify_run.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/reference.h"
#include "tilegraph/reference/verify_output.h"

namespace tilewright::measure {
namespace {

// The rounding of a value that is stored; a kernel may go on with the value
// before it.
double Rounding(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat64:
      return 0x1p-53;
    default:
      return 0x1p-24;
  }
}

absl::StatusOr<const HostTensor*> ValueOf(
    const Tensor& tensor, const std::map<TensorId, HostTensor>& values) {
  const auto found = values.find(tensor.id);
  if (found == values.end())
    return absl::InvalidArgumentError(
        absl::StrCat("no value for '", tensor.name, "'"));
  if (found->second.dtype() != tensor.dtype ||
      found->second.shape() != tensor.static_shape())
    return absl::InvalidArgumentError(absl::StrCat(
        "the value for '", tensor.name, "' has another dtype or shape"));
  return &found->second;
}

// The values that were found, as references for the tensors behind them.
ReferenceTensor Found(const HostTensor& value, double unit) {
  ReferenceTensor found = ExactReference(value);
  const double rounding = std::max(unit, Rounding(value.dtype()));
  for (const double v : found.value)
    found.bound.push_back(std::isfinite(v) ? rounding * std::fabs(v) : 0);
  return found;
}

// The tolerance, as a share of the largest value, where bounds say nothing.
double Tolerance(const TensorGraph& graph, const VerifyRunOptions& options) {
  bool reduced = options.unit > 0x1p-24;
  for (const Tensor& tensor : graph.tensors())
    reduced |= tensor.dtype != DType::kBool && SizeBytes(tensor.dtype) < 4;
  return reduced ? 0.05 : 1e-4 * options.bound_scale;
}

// Counts elements whose bound is wider than the values, and verifies them by
// `tolerance`; where they are `rounding` alone, by their bound.
void VerifyWide(const Tensor& tensor, const ReferenceTensor& expected,
                const HostTensor& value, double tolerance, bool rounding,
                RunVerdict& verdict) {
  double largest = 0;
  for (const double r : expected.value) {
    if (std::isfinite(r)) largest = std::max(largest, std::fabs(r));
  }
  if (largest == 0) return;
  for (size_t i = 0; i < expected.bound.size(); ++i) {
    const double bound = verdict.limit * expected.bound[i];
    if (!std::isfinite(bound) || bound <= largest) continue;
    ++verdict.wide;
    if (rounding) continue;
    const double y = value.Get(static_cast<int64_t>(i)).f,
                 error = std::fabs(y - expected.value[i]);
    if (!(error > tolerance * largest) || !verdict.reason.empty()) continue;
    verdict.worst = tensor.name;
    verdict.reason =
        absl::StrCat("'", tensor.name, "': element ", i, " is ", y,
                     ", expected ", expected.value[i], "; it may err by ",
                     tolerance, " of the largest value, ", largest);
  }
}

// Counts what was verified of `tensor`.
void Add(const Tensor& tensor, const ReferenceTensor& expected,
         const OutputVerdict& one, RunVerdict& verdict) {
  ++verdict.tensors;
  verdict.elements += tensor.num_elements();
  verdict.unverified +=
      std::count_if(expected.bound.begin(), expected.bound.end(),
                    [](double bound) { return !std::isfinite(bound); });
  if (!one.reason.empty())
    verdict.reason = absl::StrCat("'", tensor.name, "': ", one.reason);
  if (one.largest_error <= verdict.largest_error && one.reason.empty()) return;
  verdict.largest_error = std::max(verdict.largest_error, one.largest_error);
  verdict.worst = tensor.name;
}

}  // namespace

absl::StatusOr<RunVerdict> VerifyRun(
    const TensorGraph& graph, const std::map<TensorId, HostTensor>& inputs,
    const std::map<TensorId, HostTensor>& observed,
    const VerifyRunOptions& options) {
  for (const TensorId output : graph.outputs()) {
    if (graph.tensor(output).kind == TensorKind::kCompute)
      TW_RETURN_IF_ERROR(ValueOf(graph.tensor(output), observed).status());
  }
  ReferenceOptions how;
  how.unit = options.unit;
  how.threads = options.threads;
  RunVerdict verdict;
  verdict.limit = kBoundFactor * options.bound_scale;
  const double tolerance = Tolerance(graph, options);
  const std::vector<std::vector<TensorId>>& readers = graph.Consumers();
  std::map<TensorId, ReferenceTensor> known;
  // By tensor: the most reductions on a way to it from what was observed.
  std::map<TensorId, int> sums;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) {
      const HostTensor* value = tensor.value.get();
      if (tensor.kind == TensorKind::kPlaceholder) {
        TW_ASSIGN_OR_RETURN(value, ValueOf(tensor, inputs));
      }
      known[tensor.id] = ExactReference(*value);
      continue;
    }
    known[tensor.id] = EvaluateTensor(tensor, known, how);
    int& own_sums = sums[tensor.id];
    for (const TensorId source : graph.Inputs(tensor.id))
      own_sums = std::max(own_sums, sums[source]);
    if (tensor.compute.combiner) ++own_sums;
    if (observed.count(tensor.id)) {
      TW_ASSIGN_OR_RETURN(const HostTensor* const value,
                          ValueOf(tensor, observed));
      Add(tensor, known[tensor.id],
          VerifyOutput(known[tensor.id], Layout::RowMajor(value->shape()),
                       value->data(), verdict.limit, /*zero_signs_free=*/true,
                       options.underflow),
          verdict);
      if (verdict.reason.empty())
        VerifyWide(tensor, known[tensor.id], *value, tolerance,
                   own_sums <= 1 && options.unit <= 0x1p-24, verdict);
      if (!verdict.reason.empty()) return verdict;
      known[tensor.id] = Found(*value, options.unit);
      own_sums = 0;
    }
    for (const TensorId source : graph.Inputs(tensor.id)) {
      if (readers[source].back() == tensor.id) known.erase(source);
    }
  }
  return verdict;
}

}  // namespace tilewright::measure
