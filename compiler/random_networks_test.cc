// Random networks as ONNX models through the whole compiler, on the CPU: every
// one compiles, for every class of CPUs that the host can run, every way to
// fuse and every reduced precision, and computes what the float64 reference
// computes, within the limits of verified_network.h. No kernel is a fallback,
// but where the test forces it to be.
//
// TILEWRIGHT_RANDOM_NETWORKS sets the number of networks over all shards (128
// by default), TILEWRIGHT_RANDOM_SEED the first seed, TILEWRIGHT_RANDOM_CASES
// in how many ways each is compiled (1 by default).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "compiler/rewrite_model.h"
#include "compiler/test_model.h"
#include "compiler/verified_network.h"
#include "frontends/onnx/testing/random_network.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

constexpr int kParts = 8;
constexpr int kMostFailures = 20;
constexpr char kForced[] = "made to fail";

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// One way to compile and run a network.
struct Case {
  const backends::Codegen* codegen;
  CompileOptions options;
  std::shared_ptr<backends::Device> device;

  std::string ToString() const {
    const char* const connects[] = {"none", "register", "tilegraph"};
    return absl::StrCat(codegen->spec().target(), " connect=",
                        connects[static_cast<int>(options.plan.connect)],
                        " allow=", absl::StrJoin(options.allow, ","));
  }
};

class RandomNetworksTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::vector<std::string> have = HostCpuFeatures();
    for (const std::string& name : CpuClasses()) {
      const auto missing = MissingCpuFeatures(name, have);
      if (!missing.ok() || !missing->empty()) continue;
      const absl::StatusOr<DeviceSpec> spec =
          LoadSpec(absl::StrCat("cpu:", name));
      ASSERT_TRUE(spec.ok()) << spec.status();
      codegens_.push_back(*cpu::CreateCpuCodegen(*spec));
    }
    if (codegens_.empty()) GTEST_SKIP() << "the CPU is of no class";
    for (const int threads : {1, 2})
      devices_.push_back(*cpu::CreateCpuDevice({.num_threads = threads}));
  }

  // By seed and number: consecutive seeds go through all combinations of class,
  // connections and precisions in turn.
  Case DrawCase(uint64_t seed, uint64_t number) {
    Random random(seed * 1000 + number);
    uint64_t turn = seed + number * 7919;
    const auto take = [&](size_t count) {
      const size_t taken = turn % count;
      turn /= count;
      return taken;
    };
    Case one;
    one.codegen = codegens_[take(codegens_.size())].get();
    const PlanOptions::Connect connects[] = {PlanOptions::Connect::kNone,
                                             PlanOptions::Connect::kRegister,
                                             PlanOptions::Connect::kTileGraph};
    one.options.plan.connect = connects[take(3)];
    if (take(2) == 1) one.options.allow.push_back(kAllowWinograd4);
    if (take(2) == 1) one.options.allow.push_back(kAllowBf16);
    if (random.Bernoulli(0.2)) {
      constexpr int kBlocks[] = {0, 8, 16};
      one.options.plan.channel_block = kBlocks[random.Index(3)];
    }
    // Small tensors gain nothing: half of the time, fuse whatever can be.
    if (random.Bernoulli(0.5)) one.options.connect.evaluate.least_gain = -1e9;
    if (random.Bernoulli(0.3))
      one.options.connect.search = ConnectSearch::kGreedy;
    one.device = devices_[random.Index(devices_.size())];
    if (random.Bernoulli(0.15)) ForceFallbacks(random, one.options);
    return one;
  }

  // Makes the rules of one family fail, or of all, and perhaps what comes next.
  static void ForceFallbacks(Random& random, CompileOptions& options) {
    const std::vector<std::string> families = {
        "contraction", "sliding window",      "winograd", "row reduction",
        "elementwise", "transpose or gather", "fused"};
    const std::string family = families[random.Index(families.size())];
    const bool all = random.Bernoulli(0.3), next = random.Bernoulli(0.3);
    options.admit = [=](const std::string& generator) {
      const bool refused =
          generator == "tasks"
              ? next
              : generator != "plain" && (all || generator == family);
      return refused ? absl::InternalError(kForced) : absl::OkStatus();
    };
  }

  // The reduced precisions, of those allowed, that were made use of.
  static std::vector<std::string> ReducedPrecisions(
      const Case& one, const CompiledModel& compiled) {
    std::vector<std::string> reduced;
    for (const std::string& allow : one.options.allow) {
      for (const KernelInfo& kernel : compiled.program.kernels()) {
        const bool used =
            allow == kAllowBf16
                ? absl::StrContains(kernel.workload(), "bf16[")
                : absl::StrContains(kernel.schedule(), "winograd %0 by [4]");
        if (!used) continue;
        reduced.push_back(allow);
        break;
      }
    }
    return reduced;
  }

  absl::Status RunCase(const VerifiedNetwork& network, const Case& one) {
    ++runs_;
    TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                        Compile(network.model(), *one.codegen, one.options));
    fused_ += static_cast<int>(compiled.connected.fusions.size());
    apart_ += compiled.program.unfused_size();
    for (const KernelInfo& kernel : compiled.program.kernels()) {
      ++kernels_[kernel.generator()];
      for (const std::string& refused : kernel.refused()) {
        if (absl::EndsWith(refused, kForced)) {
          ++forced_;
          continue;
        }
        ++fallbacks_;
        std::printf("fallback, seed %lld %s: %s for %s\n",
                    static_cast<long long>(seed_), one.ToString().c_str(),
                    refused.c_str(), kernel.label().c_str());
      }
    }
    TW_ASSIGN_OR_RETURN(
        const std::vector<HostTensor> outputs,
        RunCompiled(compiled, one.device, network.model(), network.inputs()));
    const std::vector<std::string> reduced = ReducedPrecisions(one, compiled);
    const std::vector<double> errors = network.Errors(outputs),
                              limits = network.Limits(reduced);
    for (size_t o = 0; o < errors.size(); ++o) {
      double& largest = largest_share_[absl::StrJoin(reduced, ",")];
      largest = std::max(largest, errors[o] / limits[o]);
      if (errors[o] <= limits[o]) continue;
      return absl::InternalError(absl::StrCat(
          "output ", o, " errs by ", errors[o], ", more than ", limits[o]));
    }
    return absl::OkStatus();
  }

  void PrintSummary() const {
    std::printf(
        "%d runs, %d failed, %d fused groups, %d left apart, "
        "%d fallbacks, %.1f s of CPU\n",
        runs_, failures_, fused_, apart_, fallbacks_, CpuSeconds());
    for (const auto& [name, count] : kernels_)
      std::printf("  %d kernels by %s\n", count, name.c_str());
    for (const auto& [allow, share] : largest_share_)
      std::printf(
          "  with reduced precision '%s': largest error %.3f of the limit\n",
          allow.c_str(), share);
  }

  std::vector<std::unique_ptr<backends::Codegen>> codegens_;
  std::vector<std::shared_ptr<backends::Device>> devices_;
  int64_t seed_ = 0;
  int runs_ = 0, failures_ = 0, fused_ = 0, apart_ = 0, fallbacks_ = 0,
      forced_ = 0;
  std::map<std::string, int> kernels_;  // by generator
  std::map<std::string, double> largest_share_;
};

TEST_P(RandomNetworksTest, CompileForEveryClassAndMatchTheReference) {
  const int64_t networks = FromEnvironment("TILEWRIGHT_RANDOM_NETWORKS", 160);
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 1);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t end = first + networks * (GetParam() + 1) / kParts;
  for (seed_ = first + networks * GetParam() / kParts; seed_ < end; ++seed_) {
    const uint64_t seed = static_cast<uint64_t>(seed_);
    absl::StatusOr<ImportedModel> model = ImportModelProto(RandomNetwork(seed));
    ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.status();
    const absl::StatusOr<VerifiedNetwork> network =
        VerifiedNetwork::Create(*std::move(model), seed);
    ASSERT_TRUE(network.ok()) << "seed " << seed << ": " << network.status();
    for (int64_t number = 0; number < cases; ++number) {
      const Case one = DrawCase(seed, static_cast<uint64_t>(number));
      const absl::Status status = RunCase(*network, one);
      if (status.ok()) continue;
      ++failures_;
      ADD_FAILURE() << "seed " << seed << ", " << one.ToString() << ": "
                    << status;
    }
    if (failures_ >= kMostFailures) break;
  }
  EXPECT_EQ(fallbacks_, 0);
  PrintSummary();
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomNetworksTest,
                         ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright
