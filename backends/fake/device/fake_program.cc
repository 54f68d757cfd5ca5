#include "backends/fake/device/fake_program.h"

#include <cmath>

#include "base/random.h"

namespace tilewright::fake {
namespace {

constexpr double kBuildSigma = 0.5;

double Lognormal(double median, double sigma, Random& random) {
  return median * std::exp(sigma * random.Normal());
}

// Between low and high, which lie three sigma from the median; what falls
// outside is drawn again.
double LognormalBetween(double low, double high, Random& random) {
  const double sigma = std::log(high / low) / 6;
  while (true) {
    const double value = Lognormal(std::sqrt(low * high), sigma, random);
    if (low <= value && value <= high) return value;
  }
}

Fault DrawFault(const Setting& setting, Random& random) {
  const double draw = random.Uniform();
  if (draw < setting.failure_share) {
    constexpr Fault kFailures[] = {Fault::kCrash, Fault::kStickyError,
                                   Fault::kWrongResult, Fault::kOutOfMemory};
    return kFailures[random.Index(4)];
  }
  return draw < setting.failure_share + setting.hang_share ? Fault::kHang
                                                           : Fault::kNone;
}

}  // namespace

Setting StartUpSetting() {
  Setting setting;
  setting.name = "start-up";
  setting.new_context_per_candidate = true;
  setting.median_build_ns = 2e9;
  setting.low_ns = 20e3;
  setting.high_ns = 20e6;
  return setting;
}

Setting KernelSetting() {
  Setting setting;
  setting.name = "kernel";
  setting.median_build_ns = 0.2e9;
  setting.low_ns = 20e6;
  setting.high_ns = 200e6;
  return setting;
}

Setting BuildSetting() {
  Setting setting;
  setting.name = "build";
  setting.median_build_ns = 8e9;
  setting.low_ns = 20e3;
  setting.high_ns = 2e6;
  return setting;
}

Setting NoGainSetting() {
  Setting setting = KernelSetting();
  setting.name = "no gain";
  setting.fills_device = true;
  return setting;
}

FakeProgram DrawProgram(const Setting& setting, int candidates,
                        uint64_t program, uint64_t seed) {
  FakeProgram drawn;
  Random of_program(program);
  drawn.demand = {of_program.Uniform(0.05, 1), of_program.Uniform(0.05, 1)};
  if (setting.fills_device) drawn.demand = {1, 1};
  Random of_candidates(of_program.Next() ^ seed);
  for (int i = 0; i < candidates; ++i) {
    FakeCandidate candidate;
    candidate.build_ns =
        Lognormal(setting.median_build_ns, kBuildSigma, of_candidates);
    candidate.base_latency_ns =
        LognormalBetween(setting.low_ns, setting.high_ns, of_candidates);
    candidate.fault = DrawFault(setting, of_candidates);
    drawn.candidates.push_back(candidate);
  }
  return drawn;
}

}  // namespace tilewright::fake
