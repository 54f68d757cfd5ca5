// Random networks as GPU text in blocks of threads, in both dialects on the
// emulator with its search for races, planned for different GPUs: each computes
// the bits of the scalar tier's interpreter, and what the float64 reference
// computes within the limits of verified_network.h.
//
// TILEWRIGHT_RANDOM_NETWORKS sets the number of networks over all shards (56
// by default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/gpu_text/prelude.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "compiler/interpreted_model.h"
#include "compiler/test_model.h"
#include "compiler/verified_network.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/testing/random_network.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

constexpr int kParts = 8;
constexpr int kMostFailures = 20;
constexpr char kForced[] = "made to fail";
constexpr const char* kSpecs[] = {"h100", "v100", "mi210", "t4"};

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// One way to compile and run a network.
struct Case {
  std::string spec;
  gpu_text::Dialect dialect = gpu_text::Dialect::kCuda;
  CompileOptions options;

  std::string ToString() const {
    const char* const connects[] = {"none", "register", "tilegraph"};
    return absl::StrCat(
        spec, ", connect=", connects[static_cast<int>(options.plan.connect)],
        options.gpu.least_gain < 0 ? ", fusing all" : "");
  }
};

// By seed: all specs, dialects and ways to fuse in turn.
Case DrawCase(uint64_t seed) {
  Random random(seed);
  Case one;
  one.spec = kSpecs[seed % 4];
  if (one.spec == "mi210") one.dialect = gpu_text::Dialect::kHip;
  const PlanOptions::Connect connects[] = {
      PlanOptions::Connect::kTileGraph, PlanOptions::Connect::kTileGraph,
      PlanOptions::Connect::kRegister, PlanOptions::Connect::kNone};
  one.options.plan.connect = connects[seed / 4 % 4];
  if (random.Bernoulli(0.5)) one.options.gpu.least_gain = -1e9;
  // Without threads, and perhaps not even what comes next.
  if (random.Bernoulli(0.1)) {
    const bool next = random.Bernoulli(0.5);
    one.options.admit = [next](const std::string& generator) {
      const bool refused =
          generator == "simt" || (next && generator != "plain");
      return refused ? absl::InternalError(kForced) : absl::OkStatus();
    };
  }
  return one;
}

class RandomGpuNetworksTest : public ::testing::TestWithParam<int> {
 protected:
  absl::Status RunCase(const VerifiedNetwork& network, const Case& one,
                       int64_t seed) {
    ++runs_;
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(one.spec));
    emulator::EmulatorCodegenOptions checked;
    checked.checked = true;
    checked.dialect = one.dialect;
    const auto codegen = emulator::CreateEmulatorCodegen(spec, checked);
    const absl::StatusOr<CompiledModel> made =
        Compile(network.model(), *codegen, one.options);
    // What is left of the generators may want more than a block has.
    if (one.options.admit != nullptr &&
        absl::EndsWith(made.status().message(), kForced)) {
      ++without_kernel_;
      return absl::OkStatus();
    }
    TW_RETURN_IF_ERROR(made.status());
    const CompiledModel& compiled = *made;
    fused_ += static_cast<int>(compiled.connected.fusions.size());
    for (const KernelInfo& kernel : compiled.program.kernels()) {
      ++kernels_[kernel.generator()];
      for (const std::string& refused : kernel.refused()) {
        if (absl::EndsWith(refused, kForced)) continue;
        ++fallbacks_;
        std::printf("fallback, seed %lld, %s: %s for %s\n",
                    static_cast<long long>(seed), one.ToString().c_str(),
                    refused.c_str(), kernel.label().c_str());
      }
    }
    const std::shared_ptr<backends::Device> device =
        emulator::CreateEmulatorDevice(spec);
    TW_ASSIGN_OR_RETURN(
        const std::vector<HostTensor> outputs,
        RunCompiled(compiled, device, network.model(), network.inputs()));
    TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> interpreted,
                        InterpretModel(compiled, network.inputs()));
    const std::vector<double> errors = network.Errors(outputs),
                              limits = network.Limits({});
    for (size_t o = 0; o < errors.size(); ++o) {
      const HostTensor& want = interpreted[o];
      if (std::string(outputs[o].data(), outputs[o].size_bytes()) !=
          std::string(want.data(), want.size_bytes()))
        return absl::InternalError(
            absl::StrCat("output ", o, " has other bits than the interpreter"));
      if (errors[o] > limits[o])
        return absl::InternalError(absl::StrCat(
            "output ", o, " errs by ", errors[o], ", more than ", limits[o]));
    }
    return absl::OkStatus();
  }

  int runs_ = 0, failures_ = 0, fused_ = 0, fallbacks_ = 0, without_kernel_ = 0;
  std::map<std::string, int> kernels_;  // by generator
};

TEST_P(RandomGpuNetworksTest, TextsComputeWhatTheInterpreterComputes) {
  const int64_t networks = FromEnvironment("TILEWRIGHT_RANDOM_NETWORKS", 56);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t end = first + networks * (GetParam() + 1) / kParts;
  for (int64_t number = first + networks * GetParam() / kParts; number < end;
       ++number) {
    const auto seed = static_cast<uint64_t>(number);
    absl::StatusOr<ImportedModel> model = ImportModelProto(RandomNetwork(seed));
    ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.status();
    const absl::StatusOr<VerifiedNetwork> network =
        VerifiedNetwork::Create(*std::move(model), seed);
    ASSERT_TRUE(network.ok()) << "seed " << seed << ": " << network.status();
    const Case one = DrawCase(seed);
    const absl::Status status = RunCase(*network, one, number);
    if (status.ok()) continue;
    ++failures_;
    ADD_FAILURE() << "seed " << seed << ", " << one.ToString() << ": "
                  << status;
    if (failures_ >= kMostFailures) break;
  }
  int in_threads = 0, all = 0;
  std::printf("%d runs, %d failed, %d fused groups, %d fallbacks\n", runs_,
              failures_, fused_, fallbacks_);
  for (const auto& [name, count] : kernels_) {
    std::printf("  %d kernels by %s\n", count, name.c_str());
    if (name == "simt") in_threads = count;
    all += count;
  }
  EXPECT_GT(in_threads, all / 3);  // some networks have none on purpose
  EXPECT_LE(without_kernel_, 1 + runs_ / 10);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomGpuNetworksTest,
                         ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright
