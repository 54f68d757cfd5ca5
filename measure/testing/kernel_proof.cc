#include "measure/testing/kernel_proof.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/testing/canonical_terms.h"
#include "measure/testing/symbolic_kernel.h"
#include "measure/testing/symbolic_terms.h"
#include "measure/testing/winner_cases.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/physical.h"

namespace tilewright::measure {
namespace {

// By element of an input: whether it is known to be zero.
std::vector<bool> ZerosOf(const sketch::Workload& workload,
                          const Tensor& tensor) {
  std::vector<bool> zero;
  const auto found = workload.zeros.find(tensor.id);
  if (found == workload.zeros.end()) return zero;
  zero.resize(static_cast<size_t>(tensor.num_elements()));
  HostTensor others(DType::kBool, tensor.static_shape());
  for (int64_t k = 0; k < others.num_elements(); ++k) others.Set(k, {1, 1});
  FillKnownZeros(found->second, others);
  for (int64_t k = 0; k < others.num_elements(); ++k)
    zero[k] = others.Get(k).i == 0;
  return zero;
}

// The contents of memory before the first task, by argument.
std::vector<std::vector<Term>> Before(const sketch::Workload& workload,
                                      const Arguments& arguments,
                                      Terms& terms) {
  std::vector<std::vector<Term>> elements;
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const Tensor& tensor = workload.graph.tensor(arguments.tensors[i]);
    const Layout& layout = arguments.layouts[i];
    const std::vector<bool> zero = ZerosOf(workload, tensor);
    const DType dtype = kernel_ir::RegisterType(tensor.dtype);
    const bool zeros = layout.fill() == Layout::Fill::kZero;
    elements.emplace_back();
    for (int64_t k = 0; k < layout.physical_elements(); ++k)
      elements.back().push_back(zeros ? terms.Const(dtype, {})
                                      : terms.Undefined(dtype));
    PhysicalOffsets(layout).ForEach([&](int64_t position, int64_t offset) {
      elements.back()[offset] =
          tensor.kind == TensorKind::kCompute ? terms.Undefined(dtype)
          : !zero.empty() && zero[position]
              ? terms.Const(dtype, {})
              : terms.Input(dtype, static_cast<int>(i), offset);
    });
  }
  return elements;
}

}  // namespace

absl::StatusOr<KernelProof> ProveSame(const sketch::Workload& workload,
                                      const Arguments& arguments,
                                      const kernel_ir::ScalarKernel& kernel,
                                      const kernel_ir::ScalarKernel& other) {
  using Result = KernelProof::Result;
  Terms terms;
  CanonicalTerms canonical(&terms);
  const std::vector<std::vector<Term>> before =
      Before(workload, arguments, terms);
  TW_ASSIGN_OR_RETURN(const auto expected, RunOnSymbols(kernel, before, terms));
  const auto found = RunOnSymbols(other, before, terms);
  if (!found.ok())
    return KernelProof{Result::kNone, std::string(found.status().message())};
  KernelProof proof{Result::kBits, ""};
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const Tensor& tensor = workload.graph.tensor(arguments.tensors[i]);
    if (tensor.kind != TensorKind::kCompute) continue;
    const auto compare = [&](int64_t at) {
      const Term a = expected[i][at], b = (*found)[i][at];
      if (a == b || proof.result == Result::kNone) return;
      if (canonical.Of(a) == canonical.Of(b) ||
          SameWhicheverWins(terms, a, b)) {
        proof.result = Result::kRounding;
      } else {
        proof = {Result::kNone, absl::StrCat(tensor.name, "[", at, "]")};
      }
    };
    const Layout& layout = arguments.layouts[i];
    if (layout.fill() == Layout::Fill::kZero) {  // padding counts too
      for (int64_t at = 0; at < layout.physical_elements(); ++at) compare(at);
    } else {
      PhysicalOffsets(layout).ForEach(
          [&](int64_t, int64_t offset) { compare(offset); });
    }
  }
  return proof;
}

}  // namespace tilewright::measure
