// The check can fail: 500 mutants of correct kernels are all rejected.
//
// A mutant that computes the same function as its kernel is no wrong kernel.
// Whether it does is decided without the verifier, bounds or references: both
// run on random draws of all inputs, and every bit of every output must agree,
// or, both rewritten to double, 12 digits (the softmax of a row minus anything
// but its maximum is the same function; that it must not overflow is the
// verifier's business). Two different functions of this kind agree on random
// draws with negligible probability. All other mutants must be rejected.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/lowering/legalize.h"
#include "backends/lowering/lower.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/input_sets.h"
#include "measure/interpreted_candidate.h"
#include "measure/physical.h"
#include "measure/test_kernels.h"
#include "measure/verifier.h"
#include "sketch/random_schedule.h"
#include "sketch/replay.h"

namespace tilewright::measure {
namespace {

// More, as TILEWRIGHT_MUTANTS, by hand.
int Wanted() {
  const char* const text = std::getenv("TILEWRIGHT_MUTANTS");
  return text == nullptr ? 500 : std::atoi(text);
}
constexpr int kDraws = 12;

struct ScalarCase {
  std::string name;
  sketch::Workload workload;
  kernel_ir::ScalarKernel kernel;
  Arguments arguments;
};

absl::StatusOr<ScalarCase> MakeCase(std::string name,
                                    const sketch::Workload& workload,
                                    uint64_t seed) {
  ScalarCase made{std::move(name), workload, {}, {}};
  TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                      sketch::RandomSchedule(workload, seed));
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tile, lowering::Lower(tree, "k"));
  lowering::VectorTarget target;
  target.vector_bytes = seed % 2 == 0 ? 64 : 16;
  TW_ASSIGN_OR_RETURN(made.kernel, lowering::Legalize(tile, target));
  made.arguments = ArgumentsOf(tree);
  return made;
}

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

bool ComputesTheSame(const ScalarCase& one,
                     const kernel_ir::ScalarKernel& mutant) {
  const ScalarCase right = InDouble(one, one.kernel),
                   wrong = InDouble(one, mutant);
  bool same_bits = true, same_function = true;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    Random random(1000 + draw);
    const InputSet inputs = draw % 2 == 0
                                ? DrawRealSet(one.workload.graph, random)
                                : DrawExactSet(one.workload.graph, 8, random);
    const auto expected = Outputs(one, one.kernel, inputs),
               found = Outputs(one, mutant, inputs);
    EXPECT_THAT(expected.status(), IsOk());
    if (!found.ok()) return false;
    same_bits = same_bits && *found == *expected;
    if (!HasExponential(one.workload.graph)) continue;
    const auto wide_expected = Outputs(right, right.kernel, InDouble(inputs)),
               wide_found = Outputs(wrong, wrong.kernel, InDouble(inputs));
    EXPECT_THAT(wide_expected.status(), IsOk());
    same_function =
        same_function && wide_found.ok() && Agree(*wide_expected, *wide_found);
  }
  return same_bits || (HasExponential(one.workload.graph) && same_function);
}

TEST(KillRateTest, FiveHundredMutantsOfCorrectKernelsAreAllRejected) {
  const int wanted = Wanted();
  int rejected = 0, same = 0, kernels = 0;
  std::map<std::string, int> kinds;
  for (uint64_t seed = 0;
       rejected < wanted && seed < static_cast<uint64_t>(wanted); ++seed) {
    for (const NamedWorkload& workload : TestWorkloads()) {
      if (rejected >= wanted) break;
      const absl::StatusOr<ScalarCase> one =
          MakeCase(workload.name, workload.workload, seed);
      ASSERT_THAT(one.status(), IsOk()) << workload.name << " seed " << seed;
      TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                              Verifier::Create(workload.workload, {}));
      TW_ASSERT_OK_AND_ASSIGN(
          const Verdict right,
          verifier->Check(one->arguments, InterpretedCandidate(one->kernel),
                          Isolation::kInProcess));
      ASSERT_TRUE(right.ok)
          << one->name << " seed " << seed << ": " << right.reason;
      ++kernels;
      for (const kernel_ir::Mutant& mutant :
           kernel_ir::Mutants(one->kernel, 16, seed)) {
        TW_ASSERT_OK_AND_ASSIGN(
            const Verdict verdict,
            verifier->Check(one->arguments, InterpretedCandidate(mutant.kernel),
                            Isolation::kInProcess));
        if (!verdict.ok) {
          ++rejected;
          ++kinds[mutant.name.substr(mutant.name.rfind(": ") ==
                                             std::string::npos
                                         ? 0
                                         : mutant.name.rfind(": ") + 2)];
          continue;
        }
        EXPECT_TRUE(ComputesTheSame(*one, mutant.kernel))
            << one->name << " seed " << seed << ", " << mutant.name
            << " was accepted";
        ++same;
      }
    }
  }
  EXPECT_GE(rejected, wanted);
  EXPECT_GE(kinds.size(), 10u);
  EXPECT_LT(same, rejected / 4);
  RecordProperty("kernels", kernels);
  RecordProperty("rejected", rejected);
  RecordProperty("computing_the_same", same);
  for (const auto& [kind, count] : kinds)
    std::printf("%4d %s\n", count, kind.c_str());
  std::printf("%d kernels, %d mutants rejected, %d compute the same\n", kernels,
              rejected, same);
}

}  // namespace
}  // namespace tilewright::measure
