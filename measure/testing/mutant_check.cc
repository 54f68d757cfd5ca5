#include "measure/testing/mutant_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/lowering/tile/lower.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "measure/inputs/input_sets.h"
#include "measure/testing/kernel_proof.h"
#include "measure/testing/test_kernels.h"
#include "measure/verify/interpreted_candidate.h"
#include "sketch/replay/replay.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/physical.h"

namespace tilewright::measure {
namespace {

constexpr int kDraws = 12;

// The outputs' logical elements, or the interpreter's complaint.
absl::StatusOr<std::vector<std::string>> Outputs(
    const ScalarCase& one, const kernel_ir::ScalarKernel& kernel,
    const InputSet& inputs) {
  std::vector<std::string> bytes;
  for (size_t i = 0; i < one.arguments.tensors.size(); ++i) {
    const Tensor& tensor = one.workload.graph.tensor(one.arguments.tensors[i]);
    const Layout& layout = one.arguments.layouts[i];
    bytes.emplace_back(static_cast<size_t>(layout.physical_elements() *
                                           SizeBytes(tensor.dtype)),
                       '\0');
    if (tensor.kind == TensorKind::kCompute) {
      FillUnwritten(layout, tensor.dtype, bytes.back().data());
    } else {
      FillPhysical(layout, inputs.at(tensor.id), bytes.back().data());
    }
  }
  TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
      kernel, absl::MakeSpan(bytes), 0, kernel.num_tasks));
  std::vector<std::string> outputs;
  for (size_t i = 0; i < one.arguments.tensors.size(); ++i) {
    const Tensor& tensor = one.workload.graph.tensor(one.arguments.tensors[i]);
    if (tensor.kind != TensorKind::kCompute) continue;
    if (one.arguments.layouts[i].fill() == Layout::Fill::kZero) {
      outputs.push_back(bytes[i]);  // padding counts too
      continue;
    }
    const int64_t size = SizeBytes(tensor.dtype);
    outputs.emplace_back();
    PhysicalOffsets(one.arguments.layouts[i])
        .ForEach([&](int64_t, int64_t offset) {
          outputs.back().append(bytes[i], static_cast<size_t>(offset * size),
                                static_cast<size_t>(size));
        });
  }
  return outputs;
}

// The kernel and its arguments with f64 for f32.
ScalarCase InDouble(const ScalarCase& one,
                    const kernel_ir::ScalarKernel& kernel) {
  ScalarCase wide = one;
  wide.kernel = kernel;
  for (kernel_ir::RegType& reg : wide.kernel.regs) {
    if (reg.dtype == DType::kFloat32) reg.dtype = DType::kFloat64;
  }
  for (kernel_ir::ScalarBuffer& buffer : wide.kernel.buffers) {
    if (buffer.dtype == DType::kFloat32) buffer.dtype = DType::kFloat64;
    if (buffer.scratch_offset_bytes >= 0) buffer.scratch_offset_bytes *= 2;
  }
  wide.kernel.scratch_bytes *= 2;
  TensorGraph graph;
  for (const Tensor& tensor : one.workload.graph.tensors()) {
    const DType dtype =
        tensor.dtype == DType::kFloat32 ? DType::kFloat64 : tensor.dtype;
    tensor.kind == TensorKind::kCompute
        ? graph.AddCompute(tensor.name, dtype, {})
        : graph.AddPlaceholder(tensor.name, dtype, tensor.shape);
  }
  wide.workload.graph = std::move(graph);
  return wide;
}

InputSet InDouble(const InputSet& inputs) {
  InputSet wide;
  for (const auto& [id, tensor] : inputs) {
    if (tensor.dtype() != DType::kFloat32) {
      wide[id] = tensor;
      continue;
    }
    HostTensor values(DType::kFloat64, tensor.shape());
    for (int64_t k = 0; k < values.num_elements(); ++k)
      values.Set(k, tensor.Get(k));
    wide[id] = std::move(values);
  }
  return wide;
}

bool Agree(const std::vector<std::string>& a,
           const std::vector<std::string>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t at = 0; at + sizeof(double) <= a[i].size();
         at += sizeof(double)) {
      double x, y;
      std::memcpy(&x, &a[i][at], sizeof(x)),
          std::memcpy(&y, &b[i][at], sizeof(y));
      if (!(std::fabs(x - y) <= 1e-12 * std::fabs(x)) &&
          std::memcmp(&x, &y, sizeof(x)) != 0)
        return false;
    }
  }
  return true;
}

// Rounding may differ where sums are taken in another order: then the values
// in double tell.
bool Rounds(const TensorGraph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.dtype != DType::kFloat32) return false;
  }
  return true;
}

// The first line of `mutant` that is another one than in `kernel`, and that.
std::string FirstChange(const kernel_ir::ScalarKernel& kernel,
                        const kernel_ir::ScalarKernel& mutant) {
  const std::vector<std::string> before =
                                     absl::StrSplit(kernel.ToString(), '\n'),
                                 after =
                                     absl::StrSplit(mutant.ToString(), '\n');
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] != after[i])
      return absl::StrCat(absl::StripAsciiWhitespace(before[i]), " -> ",
                          absl::StripAsciiWhitespace(after[i]));
  }
  return "";
}

// "last step skipped" of "instruction 17: last step skipped".
std::string KindOf(const std::string& name) {
  const size_t colon = name.rfind(": ");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

}  // namespace

absl::StatusOr<std::string> SampledDifference(
    const ScalarCase& one, const kernel_ir::ScalarKernel& mutant) {
  const ScalarCase right = InDouble(one, one.kernel),
                   wrong = InDouble(one, mutant);
  const bool rounds =
      HasExponential(one.workload.graph) || Rounds(one.workload.graph);
  std::string difference;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    Random random(1000 + draw);
    InputSet inputs = draw % 2 == 0
                          ? DrawRealSet(one.workload.graph, random)
                          : DrawExactSet(one.workload.graph, 8, random);
    FillKnownZeros(one.workload.zeros, inputs);
    const auto expected = Outputs(one, one.kernel, inputs),
               found = Outputs(one, mutant, inputs);
    TW_RETURN_IF_ERROR(expected.status());
    if (!found.ok()) return std::string(found.status().message());
    if (*found == *expected) continue;
    difference = absl::StrCat("draw ", draw, " differs");
    if (!rounds) return difference;
    const auto wide_expected = Outputs(right, right.kernel, InDouble(inputs)),
               wide_found = Outputs(wrong, wrong.kernel, InDouble(inputs));
    TW_RETURN_IF_ERROR(wide_expected.status());
    if (!wide_found.ok()) return std::string(wide_found.status().message());
    if (!Agree(*wide_expected, *wide_found)) return difference;
  }
  return "";
}

absl::StatusOr<ScalarCase> MakeScalarCase(
    std::string name, const sketch::Workload& workload,
    const sketch::Schedule& schedule, const lowering::VectorTarget& target) {
  ScalarCase made{std::move(name), workload, {}, {}};
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tile, lowering::Lower(tree, "k"));
  TW_ASSIGN_OR_RETURN(made.kernel, lowering::Legalize(tile, target));
  made.arguments = ArgumentsOf(tree);
  return made;
}

absl::StatusOr<std::vector<std::string>> CheckMutants(const ScalarCase& one,
                                                      int count, uint64_t seed,
                                                      MutantCount& sum) {
  TW_ASSIGN_OR_RETURN(const auto verifier, Verifier::Create(one.workload, {}));
  TW_ASSIGN_OR_RETURN(
      const Verdict right,
      verifier->Check(one.arguments, InterpretedCandidate(one.kernel),
                      Isolation::kInProcess));
  if (!right.ok)
    return absl::InternalError("the kernel itself: " + right.reason);
  ++sum.kernels;
  std::vector<std::string> accepted;
  for (const kernel_ir::Mutant& mutant :
       kernel_ir::Mutants(one.kernel, count, seed)) {
    TW_ASSIGN_OR_RETURN(
        const Verdict verdict,
        verifier->Check(one.arguments, InterpretedCandidate(mutant.kernel),
                        Isolation::kInProcess));
    if (!verdict.ok) {
      ++sum.rejected;
      ++sum.kinds[KindOf(mutant.name)];
      continue;
    }
    TW_ASSIGN_OR_RETURN(
        const KernelProof proof,
        ProveSame(one.workload, one.arguments, one.kernel, mutant.kernel));
    if (proof.result == KernelProof::Result::kBits) {
      ++sum.same;
    } else if (proof.result == KernelProof::Result::kRounding) {
      ++sum.rounding;
    } else {
      TW_ASSIGN_OR_RETURN(const std::string difference,
                          SampledDifference(one, mutant.kernel));
      accepted.push_back(absl::StrCat(
          mutant.name, " (", FirstChange(one.kernel, mutant.kernel), "; ",
          proof.gap, "; ",
          difference.empty() ? "no draw tells them apart" : difference, ")"));
    }
  }
  return accepted;
}

}  // namespace tilewright::measure
