// Would the verifier of whole models notice a wrong kernel? Harms the output of
// each fused group, one at a time, and verifies the model's outputs.
//
//   mutate [--fuse] [--all] MODEL_DIR...
//
// --fuse: of the plan that fuses whatever can be fused, whether it pays or not.
// --all: a line for rejected mutants too. Exit status 1 if a mutant passes
// without excuse.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/model/error_limit.h"
#include "bench/model/own_model.h"
#include "bench/mutate/model_mutants.h"
#include "bench/ort/test_data.h"
#include "compiler/compile.h"

namespace tilewright::bench {
namespace {

absl::StatusOr<bool> Process(const std::string& folder, bool fuse, bool all) {
  const std::string data_folder = folder + "/test_data_set_0";
  TW_ASSIGN_OR_RETURN(const TestData data, ReadTestData(data_folder));
  TW_ASSIGN_OR_RETURN(const PeerError peer, ReadPeerError(data_folder));
  TW_ASSIGN_OR_RETURN(
      const CompiledBytes compiled,
      CompileForHost(folder + "/model.onnx",
                     fuse ? FuseEverything() : FuseInRegisters()));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<OwnModel> model,
                      OwnModel::Load(compiled.tw, 0));
  TW_RETURN_IF_ERROR(model->Bind(data.inputs));
  TW_ASSIGN_OR_RETURN(const std::vector<ModelMutant> mutants,
                      VerifyMutants(*model, data.references, peer.error_limit));
  int rejected = 0, excused = 0, passed = 0;
  for (const ModelMutant& mutant : mutants) {
    if (mutant.rejected) {
      ++rejected;
    } else {
      mutant.excuse.empty() ? ++passed : ++excused;
    }
    if (mutant.rejected && !all) continue;
    std::printf("%s: step %d (%s), %s: error %.2e, limit %.2e: %s\n",
                folder.c_str(), mutant.step, mutant.label.c_str(),
                Name(mutant.harm), mutant.error, peer.error_limit,
                mutant.rejected         ? "rejected"
                : mutant.excuse.empty() ? "NOT REJECTED"
                                        : mutant.excuse.c_str());
  }
  std::printf(
      "%s: %s plan, %d fused groups, %zu mutants, %d rejected, %d change "
      "nothing, %d not rejected\n",
      folder.c_str(), fuse ? "fused" : "register", compiled.fused_groups,
      mutants.size(), rejected, excused, passed);
  return passed == 0 && rejected > 0;
}

absl::StatusOr<bool> Run(const std::vector<std::string>& arguments) {
  bool fuse = false, all = false;
  OptionParser parser;
  parser.Flag("fuse", &fuse);
  parser.Flag("all", &all);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> folders,
                      parser.Parse(arguments));
  if (folders.empty())
    return absl::InvalidArgumentError("no folder with a model.onnx was given");
  bool ok = true;
  for (const std::string& given : folders) {
    const std::string folder = UserPath(given);
    const absl::StatusOr<bool> all_rejected = Process(folder, fuse, all);
    if (!all_rejected.ok())
      std::fprintf(stderr, "mutate: %s: %s\n", folder.c_str(),
                   std::string(all_rejected.status().message()).c_str());
    ok = ok && all_rejected.ok() && *all_rejected;
  }
  return ok;
}

int Main(int argc, char** argv) {
  const absl::StatusOr<bool> ok =
      Run(std::vector<std::string>(argv + 1, argv + argc));
  if (!ok.ok())
    return ReportUsage("mutate [--fuse] [--all] MODEL_DIR...", ok.status());
  return *ok ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
