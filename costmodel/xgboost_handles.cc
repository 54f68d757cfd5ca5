#include "costmodel/xgboost_handles.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "xgboost/c_api.h"

namespace tilewright::costmodel {
namespace {

// The first line of what xgboost says; the rest is where it was.
std::string Message() {
  const std::vector<std::string> lines =
      absl::StrSplit(XGBGetLastError(), '\n', absl::SkipEmpty());
  return lines.empty() ? "no reason given" : lines.front();
}

absl::Status ToStatus(int code) {
  if (code == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("xgboost: ", Message()));
}

std::shared_ptr<void> OwnBooster(BoosterHandle handle) {
  return {handle, [](void* owned) { XGBoosterFree(owned); }};
}

}  // namespace

absl::StatusOr<XgboostMatrix> XgboostMatrix::Create(
    const FeatureMatrix& features, const std::vector<float>& margins,
    int threads) {
  DMatrixHandle handle = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(XGDMatrixCreateFromMat_omp(
      features.values().data(), features.rows(), features.columns(),
      __builtin_nanf(""), &handle, threads)));
  XgboostMatrix matrix;
  matrix.handle_ = {handle, [](void* owned) { XGDMatrixFree(owned); }};
  TW_RETURN_IF_ERROR(ToStatus(XGDMatrixSetFloatInfo(
      handle, "base_margin", margins.data(), margins.size())));
  return matrix;
}

absl::StatusOr<XgboostModel> XgboostModel::Create(
    const XgboostMatrix& training,
    const std::vector<std::pair<std::string, std::string>>& parameters) {
  const DMatrixHandle matrices[] = {training.get()};
  BoosterHandle handle = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(XGBoosterCreate(matrices, 1, &handle)));
  XgboostModel model;
  model.handle_ = OwnBooster(handle);
  for (const auto& [name, value] : parameters) {
    TW_RETURN_IF_ERROR(
        ToStatus(XGBoosterSetParam(handle, name.c_str(), value.c_str())));
  }
  return model;
}

absl::StatusOr<XgboostModel> XgboostModel::Load(std::string_view bytes) {
  BoosterHandle handle = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(XGBoosterCreate(nullptr, 0, &handle)));
  XgboostModel model;
  model.handle_ = OwnBooster(handle);
  if (XGBoosterLoadModelFromBuffer(handle, bytes.data(), bytes.size()) != 0) {
    return absl::DataLossError(
        absl::StrCat("the saved boosted trees cannot be read (", Message(),
                     "): train them again"));
  }
  return model;
}

absl::Status XgboostModel::Boost(const XgboostMatrix& training,
                                 std::vector<float> first,
                                 std::vector<float> second) {
  TW_CHECK_EQ(first.size(), second.size());
  return ToStatus(XGBoosterBoostOneIter(handle_.get(), training.get(),
                                        first.data(), second.data(),
                                        first.size()));
}

absl::StatusOr<std::vector<double>> XgboostModel::Predict(
    const XgboostMatrix& rows) const {
  constexpr int kMargin = 1;
  bst_ulong size = 0;
  const float* values = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(
      XGBoosterPredict(handle_.get(), rows.get(), kMargin, /*ntree_limit=*/0,
                       /*training=*/0, &size, &values)));
  return std::vector<double>(values, values + size);
}

absl::StatusOr<XgboostModel> XgboostModel::First(int rounds) const {
  BoosterHandle handle = nullptr;
  TW_RETURN_IF_ERROR(
      ToStatus(XGBoosterSlice(handle_.get(), 0, rounds, 1, &handle)));
  XgboostModel model;
  model.handle_ = OwnBooster(handle);
  return model;
}

int XgboostModel::rounds() const {
  int rounds = 0;
  TW_CHECK_EQ(XGBoosterBoostedRounds(handle_.get(), &rounds), 0);
  return rounds;
}

absl::StatusOr<std::string> XgboostModel::Save() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(XGBoosterSaveModelToBuffer(
      handle_.get(), R"({"format": "ubj"})", &size, &bytes)));
  return std::string(bytes, size);
}

}  // namespace tilewright::costmodel
