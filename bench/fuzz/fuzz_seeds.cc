#include "bench/fuzz/fuzz_seeds.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "bench/fuzz/mutate_onnx.h"
#include "frontends/onnx/graph/load_model.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/testing/random_network.h"

namespace tilewright::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> ModelFiles(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator
           it(folder, fs::directory_options::follow_directory_symlink, error),
       end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".onnx") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<FuzzSeed> ReadFuzzSeeds(const std::vector<std::string>& folders,
                                    int64_t max_bytes) {
  std::vector<FuzzSeed> seeds;
  LoadLimits limits;
  limits.max_model_bytes = max_bytes;
  for (const std::string& folder : folders) {
    for (const fs::path& file : ModelFiles(folder)) {
      absl::StatusOr<onnx::ModelProto> model = LoadModel(file.string(), limits);
      if (!model.ok() || !ImportModelProto(*model).ok()) continue;
      seeds.push_back({fs::relative(file, folder).string(), *std::move(model)});
    }
  }
  return seeds;
}

std::vector<FuzzSeed> RandomNetworkSeeds(int64_t count) {
  std::vector<FuzzSeed> seeds;
  for (int64_t k = 0; k < count; ++k) {
    seeds.push_back(
        {absl::StrCat("network ", k), RandomNetwork(static_cast<uint64_t>(k))});
  }
  return seeds;
}

FuzzMutant MakeMutant(const std::vector<FuzzSeed>& seeds, int64_t index) {
  Random random(static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u + 1);
  const FuzzSeed& seed = seeds[random.Index(seeds.size())];
  FuzzMutant mutant{seed.model, seed.name, ""};
  mutant.change = MutateOnnx(mutant.model, random);
  return mutant;
}

}  // namespace tilewright::bench
