// Fuzzes the importer, compiler and runtime with changed models, or the loader
// with changed .tw files. See docs/results/fuzz.md.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/fuzz/fuzz_runs.h"
#include "bench/fuzz/fuzz_seeds.h"
#include "google/protobuf/stubs/logging.h"

namespace tilewright::bench {
namespace {

constexpr const char* kUsage =
    "usage: fuzz --kind=onnx|tw [--models=N] [--first=INDEX] "
    "[--seeds=DIR,DIR] [--networks=N] [--ort=LIB] [--save=FILE] "
    "[--max-bytes=N]";

absl::Status Run(int argc, char** argv) {
  std::string kind = "onnx", seeds, save;
  FuzzRunOptions options;
  int64_t max_bytes = 1 << 18, networks = 0;
  OptionParser parser;
  parser.Text("kind", &kind);
  parser.Number("models", &options.models, int64_t{1});
  parser.Number("first", &options.first, int64_t{0});
  parser.Number("max-bytes", &max_bytes, int64_t{1});
  parser.Text("seeds", &seeds);
  parser.Number("networks", &networks, int64_t{0});
  parser.Text("ort", &options.ort_library);
  parser.Text("save", &save);
  TW_RETURN_IF_ERROR(
      parser.Parse(std::vector<std::string>(argv + 1, argv + argc)).status());
  if ((kind != "onnx" && kind != "tw") || (seeds.empty() && networks == 0))
    return absl::InvalidArgumentError(
        "--kind, or both --seeds and --networks, is missing");
  std::vector<std::string> folders;
  for (const std::string& folder :
       std::vector<std::string>(absl::StrSplit(seeds, ',', absl::SkipEmpty())))
    folders.push_back(UserPath(folder));
  std::vector<FuzzSeed> models = ReadFuzzSeeds(folders, max_bytes);
  for (FuzzSeed& network : RandomNetworkSeeds(networks))
    models.push_back(std::move(network));
  if (models.empty())
    return absl::NotFoundError("there are no models to change; see --seeds");
  std::printf("%zu seeds\n", models.size());
  if (!save.empty()) {
    const FuzzMutant mutant = MakeMutant(models, options.first);
    std::printf("%s: %s\n", mutant.origin.c_str(), mutant.change.c_str());
    std::ofstream file(UserPath(save), std::ios::binary);
    return mutant.model.SerializeToOstream(&file)
               ? absl::OkStatus()
               : absl::UnavailableError("cannot write it");
  }
  options.progress = true;
  const FuzzReport report =
      kind == "onnx" ? FuzzOnnx(models, options) : FuzzTw(models, options);
  std::printf("%s", report.Text().c_str());
  return report.problems().empty()
             ? absl::OkStatus()
             : absl::InternalError(
                   absl::StrCat(report.problems().size(), " problems"));
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);
  const absl::Status status = tilewright::bench::Run(argc, argv);
  if (absl::IsInvalidArgument(status))
    return tilewright::ReportUsage(tilewright::bench::kUsage, status);
  return tilewright::ReportStatus("fuzz", status);
}
