// Random graphs under random legal schedules, as GPU text: what the emulator
// runs is, bit for bit, what the scalar tier's interpreter computes. The CUDA
// dialect with every access checked, the HIP dialect without.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (240 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/cts/compare.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/emulator/run_kernel.h"
#include "backends/gpu_text/prelude.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::emulator {
namespace {

using kernel_ir::ScalarKernel;
using lowering::RandomCase;

constexpr int kParts = 4;
// One call of the compiler costs more than a kernel.
constexpr int kCasesPerModule = 30;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Vectors of every width, boxes unrolled and looped over, with and without FMA.
absl::StatusOr<ScalarKernel> LegalizeAsDrawn(const RandomCase& drawn) {
  Random random(drawn.seed);
  lowering::VectorTarget target;
  const int bytes[] = {4, 16, 32, 64};
  target.vector_bytes = bytes[random.Index(4)];
  const int unrolled[] = {1, 4, 16};
  target.max_unrolled_vectors = unrolled[random.Index(3)];
  target.fma = random.Bernoulli(0.5);
  TW_ASSIGN_OR_RETURN(ScalarKernel kernel,
                      lowering::Legalize(drawn.kernel, target));
  lowering::FunctionOptions functions;
  functions.fma = target.fma;
  functions.scale = random.Bernoulli(0.5);
  functions.lookup = random.Bernoulli(0.5);
  lowering::ExpandFunctions(kernel, functions);
  kernel.name = absl::StrCat("k", drawn.seed);
  return kernel;
}

struct Prepared {
  RandomCase drawn;
  ScalarKernel kernel;
  std::vector<std::string> expected;  // the arguments after a run
};

absl::StatusOr<Prepared> Prepare(uint64_t seed) {
  Prepared prepared;
  TW_ASSIGN_OR_RETURN(prepared.drawn, lowering::DrawCase(seed));
  TW_ASSIGN_OR_RETURN(prepared.kernel, LegalizeAsDrawn(prepared.drawn));
  prepared.expected = prepared.drawn.args;
  TW_RETURN_IF_ERROR(InterpretScalarKernel(prepared.kernel,
                                           absl::MakeSpan(prepared.expected), 0,
                                           prepared.kernel.num_tasks));
  return prepared;
}

class RandomKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomKernelsTest, TextsComputeWhatTheScalarInterpreterComputes) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 240);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t begin = first + cases * GetParam() / kParts,
                end = first + cases * (GetParam() + 1) / kParts;
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("h100"));
  // Schedules were drawn for no GPU: their scratch may be any.
  spec.mutable_unit()->set_scratchpad_bytes_per_block(64 << 20);
  const auto device = CreateEmulatorDevice(spec);
  EmulatorCodegenOptions cuda, hip;
  cuda.checked = true;
  hip.dialect = gpu_text::Dialect::kHip;
  for (int64_t seed = begin; seed < end;) {
    std::vector<Prepared> batch;
    std::vector<ScalarKernel> kernels;
    for (; seed < end && static_cast<int>(batch.size()) < kCasesPerModule;
         ++seed) {
      absl::StatusOr<Prepared> prepared = Prepare(static_cast<uint64_t>(seed));
      ASSERT_TRUE(prepared.ok()) << "seed " << seed << prepared.status();
      kernels.push_back(prepared->kernel);
      batch.push_back(*std::move(prepared));
    }
    for (const EmulatorCodegenOptions& options : {cuda, hip}) {
      const auto codegen = CreateEmulatorCodegen(spec, options);
      TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                              codegen->Emit(kernels));
      TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                              device->LoadModule(module.bytes, module.target));
      for (const Prepared& prepared : batch) {
        const auto results = RunKernel(
            *device, *loaded, prepared.kernel, prepared.drawn.args);
        ASSERT_TRUE(results.ok())
            << results.status() << prepared.kernel.ToString();
        for (size_t i = 0; i < results->size(); ++i) {
          ASSERT_EQ(cts::FirstDifference(prepared.kernel.buffers[i].dtype,
                                         (*results)[i], prepared.expected[i]),
                    "")
              << "argument " << i << " of " << module.target << " "
              << prepared.kernel.ToString();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomKernelsTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::emulator
