#include "tools/gpu/verify_graph.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/parallel_for.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/reference.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::cuda {
namespace {

constexpr int64_t kMostRows = 4;

// Evenly over all rows, with both ends.
std::vector<int64_t> SampledRows(int64_t rows) {
  const int64_t count = std::min(rows, kMostRows);
  std::vector<int64_t> sampled;
  for (int64_t i = 0; i < count; ++i)
    sampled.push_back(count == 1 ? 0 : i * (rows - 1) / (count - 1));
  return sampled;
}

// These rows of a tensor of `bytes`, one after the other.
HostTensor Rows(const char* bytes, DType dtype, std::vector<int64_t> shape,
                const std::vector<int64_t>& rows) {
  shape[0] = static_cast<int64_t>(rows.size());
  HostTensor taken(dtype, shape);
  const int64_t row_bytes = taken.size_bytes() / shape[0];
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(taken.data() + static_cast<int64_t>(i) * row_bytes,
                bytes + rows[i] * row_bytes, static_cast<size_t>(row_bytes));
  }
  return taken;
}

}  // namespace

absl::StatusOr<OutputVerdict> VerifyRows(
    const CheckGraph& graph, const PlannedGraph& planned,
    const std::map<TensorId, HostTensor>& inputs, GraphOnDevice& on) {
  const std::vector<int64_t> rows = SampledRows(graph.rows);
  TW_ASSIGN_OR_RETURN(
      const TensorGraph sampled,
      ParseText(graph.TextOf(static_cast<int64_t>(rows.size()))));
  std::map<TensorId, HostTensor> some;
  for (const auto& [id, values] : inputs) {
    some[id] = sampled.tensor(id).static_shape() == values.shape()
                   ? values
                   : Rows(values.data(), values.dtype(), values.shape(), rows);
  }
  ReferenceOptions options;
  options.threads = UsableCpus();
  TW_ASSIGN_OR_RETURN(const ReferenceResult expected,
                      EvaluateReference(sampled, some, options));
  OutputVerdict all;
  for (const auto& [id, want] : expected.outputs) {
    TW_ASSIGN_OR_RETURN(const std::string bytes, on.Bytes(id));
    const HostTensor got = Rows(bytes.data(), want.dtype,
                                planned.graph.tensor(id).static_shape(), rows);
    const OutputVerdict one =
        VerifyOutput(want, Layout::RowMajor(got.shape()), got.data(),
                     kBoundFactor, /*zero_signs_free=*/true);
    if (all.reason.empty()) all.reason = one.reason;
    all.largest_error = std::max(all.largest_error, one.largest_error);
  }
  return all;
}

absl::StatusOr<int64_t> BytesUnlikeInterpreter(
    const PlannedGraph& planned, const std::map<TensorId, HostTensor>& inputs,
    GraphOnDevice& on) {
  std::map<TensorId, std::string> memory;
  for (const auto& [id, values] : inputs) {
    memory[id].assign(values.data(), static_cast<size_t>(values.size_bytes()));
  }
  int64_t unlike = 0;
  for (const PlannedKernel& kernel : planned.kernels) {
    std::vector<std::string> args;
    for (const TensorId id : kernel.args) {
      const Tensor& tensor = planned.graph.tensor(id);
      std::string& bytes = memory[id];
      if (bytes.empty()) {
        bytes.assign(static_cast<size_t>(tensor.num_bytes()), '\xff');
      }
      args.push_back(bytes);
    }
    const kernel_ir::ScalarKernel& scalar = kernel.kernel.scalar;
    TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
        scalar, absl::MakeSpan(args), 0, scalar.num_tasks));
    for (size_t i = 0; i < args.size(); ++i) {
      const TensorId id = kernel.args[i];
      memory[id] = std::move(args[i]);
      if (planned.graph.tensor(id).kind != TensorKind::kCompute) continue;
      TW_ASSIGN_OR_RETURN(const std::string got, on.Bytes(id));
      for (size_t at = 0; at < got.size(); ++at)
        unlike += got[at] != memory[id][at];
    }
  }
  return unlike;
}

}  // namespace tilewright::cuda
