#include "backends/lowering/testing/random_case.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/lowering/tile/lower.h"
#include "base/status_macros.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/random_schedule.h"
#include "tilegraph/analysis/exact_integers.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/verify_output.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright::lowering {
namespace {

absl::Status With(absl::Status status, const std::string& more) {
  return absl::Status(status.code(),
                      absl::StrCat(std::string(status.message()), "\n", more));
}

bool AreIntegers(const std::map<TensorId, HostTensor>& inputs) {
  for (const auto& [id, input] : inputs) {
    if (!IsFloat(input.dtype())) continue;
    for (int64_t i = 0; i < input.num_elements(); ++i) {
      if (input.Get(i).f != std::nearbyint(input.Get(i).f)) return false;
    }
  }
  return true;
}

// The outputs; without error bounds where every order of evaluation is exact.
absl::StatusOr<std::map<TensorId, ReferenceTensor>> Expected(
    const TensorGraph& graph, const std::map<TensorId, HostTensor>& inputs) {
  ReferenceOptions options;
  if (IsExactOnIntegers(graph) && AreIntegers(inputs)) {
    options.exact = true;
    TW_ASSIGN_OR_RETURN(ReferenceResult result,
                        EvaluateReference(graph, inputs, options));
    if (result.largest_magnitude <= ExactLimit(graph))
      return std::move(result.outputs);
    options.exact = false;
  }
  TW_ASSIGN_OR_RETURN(ReferenceResult result,
                      EvaluateReference(graph, inputs, options));
  return std::move(result.outputs);
}

using DrawSchedule = absl::StatusOr<sketch::Schedule>(
    const sketch::Workload& workload, uint64_t seed);

absl::StatusOr<RandomCase> Draw(uint64_t seed, DrawSchedule& draw_schedule) {
  RandomCase c;
  c.seed = seed;
  const bool exact = seed % 2 == 0;
  RandomGraphOptions options;
  options.exact_only = exact;
  c.workload.graph = RandomGraph(seed, options);
  TW_ASSIGN_OR_RETURN(c.schedule, draw_schedule(c.workload, seed));
  TW_RETURN_IF_ERROR(PrepareCase(c, exact));
  return c;
}

}  // namespace

std::string RandomCase::ToString() const {
  return absl::StrCat("seed ", seed, "\n", workload.Text(), "\n",
                      schedule.ToString(), "\n", tree.ToString(), "\n",
                      kernel.ToString());
}

absl::StatusOr<RandomCase> DrawCase(uint64_t seed) {
  return Draw(seed, sketch::RandomSchedule);
}

absl::StatusOr<RandomCase> DrawThreadedCase(uint64_t seed) {
  return Draw(seed, sketch::RandomThreadedSchedule);
}

absl::Status PrepareCase(RandomCase& c, bool exact) {
  absl::StatusOr<sketch::BlockTree> tree =
      sketch::Replay(c.workload, c.schedule);
  if (!tree.ok())
    return With(tree.status(),
                absl::StrCat(c.workload.Text(), c.schedule.ToString()));
  c.tree = *std::move(tree);
  absl::StatusOr<kernel_ir::Kernel> kernel = Lower(c.tree, "k");
  if (!kernel.ok()) {
    absl::StatusOr<kernel_ir::Kernel> built = BuildTileKernel(c.tree, "k");
    return With(
        kernel.status(),
        absl::StrCat(c.ToString(), built.ok() ? built->ToString() : ""));
  }
  c.kernel = *std::move(kernel);

  std::map<TensorId, HostTensor> inputs =
      RandomInputs(c.workload.graph, c.seed, exact);
  FillKnownZeros(c.workload.zeros, inputs);
  for (const Tensor& t : c.workload.graph.tensors()) {
    if (t.kind == TensorKind::kConstant) inputs.emplace(t.id, *t.value);
  }
  TW_ASSIGN_OR_RETURN(c.expected, Expected(c.workload.graph, inputs));

  // The kernel's arguments are the tree's global buffers, in order.
  for (const sketch::Buffer& b : c.tree.buffers) {
    if (b.level != sketch::MemLevel::kGlobal) continue;
    const Tensor& t = c.workload.graph.tensor(b.tensor);
    c.tensors.push_back(b.tensor);
    if (t.kind == TensorKind::kCompute) {
      c.args.emplace_back(b.layout.physical_elements() * SizeBytes(b.dtype),
                          '\xff');
    } else {
      const HostTensor& value = inputs.at(t.id);
      std::string& arg = c.args.emplace_back(
          b.layout.physical_elements() * SizeBytes(t.dtype), '\0');
      b.layout.Pack(
          b.winograd == 0 ? value : WinogradFilters(value, b.winograd),
          absl::MakeSpan(arg));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const RandomCase& c,
                          absl::Span<const std::string> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Tensor& t = c.workload.graph.tensor(c.tensors[i]);
    if (t.kind != TensorKind::kCompute) {
      if (args[i] != c.args[i])
        return absl::InternalError(
            absl::StrCat("the input ", t.name, " was changed"));
      continue;
    }
    const OutputVerdict verdict =
        VerifyOutput(c.expected.at(t.id), c.kernel.buffers[i].layout,
                     args[i].data(), kBoundFactor, /*zero_signs_free=*/true);
    if (!verdict.reason.empty())
      return absl::InternalError(
          absl::StrCat("output ", t.name, ": ", verdict.reason));
  }
  return absl::OkStatus();
}

}  // namespace tilewright::lowering
