#include "bench/model/error_limit.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "bench/ort/test_data.h"

namespace tilewright::bench {
namespace {

// The value of "key": in a flat JSON object, without quotes; empty if absent.
std::string Field(const std::string& json, const std::string& key) {
  const size_t at = json.find(absl::StrCat("\"", key, "\":"));
  if (at == std::string::npos) return "";
  const size_t begin = json.find_first_not_of(" \"", at + key.size() + 3);
  const size_t end = json.find_first_of("\",\n}", begin);
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : json.substr(begin, end - begin);
}

absl::StatusOr<double> Number(const std::string& path, const std::string& json,
                              const std::string& key) {
  double number = 0;
  if (!absl::SimpleAtod(Field(json, key), &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has no number \"", key, "\""));
  }
  return number;
}

}  // namespace

absl::StatusOr<double> ModelErrorLimit(const std::string& data_folder,
                                       double peer_error) {
  const std::string path = absl::StrCat(data_folder, "/class.json");
  const absl::StatusOr<std::string> json = ReadFile(path, 1 << 16);
  if (absl::IsNotFound(json.status())) return ErrorLimit(peer_error);
  TW_RETURN_IF_ERROR(json.status());
  TW_ASSIGN_OR_RETURN(const double class_error,
                      Number(path, *json, "class_error"));
  return 4 * class_error;
}

absl::StatusOr<PeerError> ReadPeerError(const std::string& data_folder) {
  const std::string path = absl::StrCat(data_folder, "/peer_error.json");
  TW_ASSIGN_OR_RETURN(const std::string json, ReadFile(path, 1 << 16));
  PeerError verdict;
  verdict.version = Field(json, "onnxruntime_version");
  TW_ASSIGN_OR_RETURN(verdict.peer_error,
                      Number(path, json, "onnxruntime_error"));
  TW_ASSIGN_OR_RETURN(verdict.error_limit,
                      ModelErrorLimit(data_folder, verdict.peer_error));
  return verdict;
}

}  // namespace tilewright::bench
