// Would the judge of whole models notice a wrong kernel? Harms the output of
// each fused group, one at a time, and judges the model's outputs.
//
//   mutate MODEL_DIR...
//
// Exit status 1 if a mutant passes without excuse.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/model/judge.h"
#include "bench/model/own_model.h"
#include "bench/mutate/model_mutants.h"
#include "bench/ort/test_data.h"

namespace tilewright::bench {
namespace {

absl::StatusOr<bool> Process(const std::string& folder) {
  const std::string data_folder = folder + "/test_data_set_0";
  TW_ASSIGN_OR_RETURN(const TestData data, ReadTestData(data_folder));
  TW_ASSIGN_OR_RETURN(const PeerJudgement peer, ReadJudgement(data_folder));
  TW_ASSIGN_OR_RETURN(const CompiledBytes compiled,
                      CompileForHost(folder + "/model.onnx"));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<OwnModel> model,
                      OwnModel::Load(compiled.tw, 0));
  TW_RETURN_IF_ERROR(model->Bind(data.inputs));
  TW_ASSIGN_OR_RETURN(const std::vector<ModelMutant> mutants,
                      JudgeMutants(*model, data.references, peer.error_limit));
  int rejected = 0, excused = 0, passed = 0;
  for (const ModelMutant& mutant : mutants) {
    if (mutant.rejected) {
      ++rejected;
      continue;
    }
    mutant.excuse.empty() ? ++passed : ++excused;
    std::printf(
        "%s: step %d (%s), %s: error %.2e is below the limit %.2e: %s\n",
        folder.c_str(), mutant.step, mutant.label.c_str(),
        mutant.harm == Harm::kZero ? "zeroed" : "channels rotated",
        mutant.error, peer.error_limit,
        mutant.excuse.empty() ? "NOT REJECTED" : mutant.excuse.c_str());
  }
  std::printf(
      "%s: %zu mutants, %d rejected, %d change nothing, %d not rejected\n",
      folder.c_str(), mutants.size(), rejected, excused, passed);
  return passed == 0 && rejected > 0;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "mutate: no folder with a model.onnx was given\n");
    return 2;
  }
  const char* const base = std::getenv("BUILD_WORKING_DIRECTORY");
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    const std::string folder = base == nullptr || argv[i][0] == '/'
                                   ? argv[i]
                                   : absl::StrCat(base, "/", argv[i]);
    const absl::StatusOr<bool> all_rejected = Process(folder);
    if (!all_rejected.ok())
      std::fprintf(stderr, "mutate: %s: %s\n", folder.c_str(),
                   std::string(all_rejected.status().message()).c_str());
    ok = ok && all_rejected.ok() && *all_rejected;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
