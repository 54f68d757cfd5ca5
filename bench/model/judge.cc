#include "bench/model/judge.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "bench/ort/test_data.h"

namespace tilewright::bench {
namespace {

// What stands behind "key": in a flat JSON object, without quotes; empty if
// absent.
std::string Field(const std::string& json, const std::string& key) {
  const size_t at = json.find(absl::StrCat("\"", key, "\":"));
  if (at == std::string::npos) return "";
  const size_t begin = json.find_first_not_of(" \"", at + key.size() + 3);
  const size_t end = json.find_first_of("\",\n}", begin);
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : json.substr(begin, end - begin);
}

}  // namespace

absl::StatusOr<PeerJudgement> ReadJudgement(const std::string& data_folder) {
  const std::string path = absl::StrCat(data_folder, "/judge.json");
  TW_ASSIGN_OR_RETURN(const std::string json, ReadFile(path, 1 << 16));
  PeerJudgement judgement;
  judgement.version = Field(json, "onnxruntime_version");
  if (!absl::SimpleAtod(Field(json, "onnxruntime_error"),
                        &judgement.peer_error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has no number \"onnxruntime_error\""));
  }
  judgement.error_limit = ErrorLimit(judgement.peer_error);
  return judgement;
}

}  // namespace tilewright::bench
