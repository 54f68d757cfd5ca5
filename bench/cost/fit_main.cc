// Fits the constants of the cost model to kernels that `collect` has measured.
//
//   fit [--spec=NAME_OR_FILE] [--source=TEXT] [--out=FILE] [--worst=N]
//       SAMPLES...
//
// Half of the models are fitted on, and the errors of both halves printed,
// before and after. The fitted spec is written to FILE; without it nothing but
// the errors is told. Without --spec the host's is the start.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/cost/error_table.h"
#include "bench/cost/fit.h"
#include "bench/cost/kernel_sample.h"

namespace tilewright {
namespace {

using bench::KernelSample;

constexpr int64_t kMostBytes = 1 << 28;

struct Options {
  std::string spec, out;
  std::vector<std::string> samples;
  std::string source = "bench/cost:fit";
  int worst = 10;
};

// Kernels as they are in models alone.
void Print(const char* title, std::vector<KernelSample> samples,
           const DeviceSpec& spec, int worst) {
  samples.erase(
      std::remove_if(samples.begin(), samples.end(), bench::IsOfTiles),
      samples.end());
  std::printf(
      "\n%s: mean |ln ratio| %.4f\n\n%s", title, bench::FitError(samples, spec),
      bench::ErrorTable(samples, bench::ErrorRatios(samples, spec), worst)
          .c_str());
}

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec start, options.spec.empty()
                                                  ? HostSpecWithCores(1)
                                                  : LoadSpec(options.spec));
  std::vector<KernelSample> fitted_on, held_out;
  for (const std::string& file : options.samples) {
    TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostBytes));
    TW_ASSIGN_OR_RETURN(std::vector<KernelSample> samples,
                        bench::ParseSamples(text));
    for (KernelSample& sample : samples)
      (bench::IsFittedOn(sample.model) ? fitted_on : held_out)
          .push_back(std::move(sample));
  }
  const DeviceSpec spec = bench::FitSpec(fitted_on, start, options.source);
  Print("fitted half, before", fitted_on, start, 0);
  Print("held-out half, before", held_out, start, 0);
  Print("fitted half", fitted_on, spec, options.worst);
  Print("held-out half", held_out, spec, options.worst);
  return options.out.empty() ? absl::OkStatus()
                             : WriteFileAtomically(options.out, SpecText(spec));
}

constexpr char kUsage[] =
    "fit [--spec=NAME_OR_FILE] [--source=TEXT] [--out=FILE] [--worst=N] "
    "SAMPLES...";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Text("spec", &options.spec);
  parser.Text("source", &options.source);
  parser.Text("out", &options.out);
  parser.Number("worst", &options.worst, 0);
  return RunOnArguments("fit", kUsage, parser, arguments,
                        [&](const std::vector<std::string>& files) {
                          options.samples = files;
                          return Run(options);
                        });
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::Main({argv + 1, argv + argc});
}
