#include "bench/fuzz/ort_case.h"

#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/fuzz/own_case.h"
#include "bench/ort/ort_session.h"

namespace tilewright::bench {
namespace {

constexpr double kMostBytes = 256 << 20;

FuzzAnswer Refused(std::string stage, const absl::Status& status) {
  return {"refused", std::move(stage), std::string(status.message()), {}};
}

}  // namespace

FuzzAnswer RunOrtCase(const std::string& library, const std::string& path,
                      const onnx::ModelProto& model, uint64_t seed) {
  {
    std::ofstream file(path, std::ios::binary);
    model.SerializeToOstream(&file);
  }
  const absl::StatusOr<std::unique_ptr<OrtSession>> session =
      OrtSession::Open(library, path, {});
  if (!session.ok()) return Refused("load", session.status());
  const std::map<std::string, int64_t> names = FuzzDims(model);
  std::vector<OrtTensor> inputs;
  for (const std::string& wanted : (*session)->input_names()) {
    for (const auto& input : model.graph().input()) {
      if (input.name() != wanted) continue;
      const auto& type = input.type().tensor_type();
      std::vector<int64_t> dims;
      double bytes = 8;
      for (const auto& dim : type.shape().dim()) {
        const auto named = names.find(dim.dim_param());
        dims.push_back(named != names.end() ? named->second : dim.dim_value());
        bytes *= static_cast<double>(dims.back());
      }
      if (bytes > kMostBytes || bytes < 0) return {"large", "", "", {}};
      inputs.push_back(DrawTensor(wanted, type.elem_type(), dims, seed));
      break;
    }
  }
  absl::StatusOr<std::vector<OrtTensor>> outputs = (*session)->Run(inputs);
  if (!outputs.ok()) return Refused("run", outputs.status());
  return {"ran", "", "", *std::move(outputs)};
}

}  // namespace tilewright::bench
