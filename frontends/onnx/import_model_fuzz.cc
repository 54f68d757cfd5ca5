// Any bytes at all: a graph that verifies, or one line; never a crash, a hang
// or more memory than a small multiple of the limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/load_model.h"
#include "google/protobuf/stubs/logging.h"
#include "tilegraph/verifier.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tilewright::ImportedModel;
  absl::StatusOr<onnx::ModelProto> model = tilewright::ParseModel(
      absl::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (!model.ok()) return 0;
  tilewright::ImportOptions options;
  options.dims["N"] = 3;
  options.max_folded_bytes = 1 << 16;
  options.max_folded_total_bytes = 1 << 20;
  options.max_folded_work = 1 << 14;
  const bool has_n = absl::StrContains(
      absl::string_view(reinterpret_cast<const char*>(data), size), "N");
  if (!has_n) options.dims.clear();
  const absl::StatusOr<ImportedModel> imported =
      tilewright::ImportModelProto(*std::move(model), options);
  if (imported.ok()) {
    TW_CHECK_OK(tilewright::VerifyGraph(imported->graph));
    return 0;
  }
  TW_CHECK(!imported.status().message().empty());
  TW_CHECK(!absl::StrContains(imported.status().message(), "\n"))
      << imported.status();
  return 0;
}
