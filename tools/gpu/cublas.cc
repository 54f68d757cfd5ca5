#include "tools/gpu/cublas.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

constexpr int kDefaultMath = 0;  // TF32 only where the environment asks for it
constexpr int kAsItIs = 0;       // not transposed

absl::Status ToStatus(int result, const char* what) {
  if (result == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cuBLAS, ", what, ": status ", result));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Cublas>> Cublas::Open(const std::string& path) {
  std::vector<std::string> names = {path};
  if (path.empty()) {
    names = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
             "libcublas.so", "/usr/local/cuda/lib64/libcublas.so"};
  }
  setenv("NVIDIA_TF32_OVERRIDE", "0", /*overwrite=*/1);
  std::unique_ptr<Cublas> cublas(new Cublas);
  CublasApi& api = cublas->api_;
  TW_ASSIGN_OR_RETURN(api.library,
                      backends::SharedLibrary::Open(
                          names, "cuBLAS, a part of the CUDA toolkit"));
#define TILEWRIGHT_RESOLVE(member, symbol, parameters) \
  TW_RETURN_IF_ERROR(api.library->Resolve(#symbol, &api.member));
  TILEWRIGHT_CUBLAS_SYMBOLS(TILEWRIGHT_RESOLVE)
#undef TILEWRIGHT_RESOLVE
  TW_RETURN_IF_ERROR(ToStatus(api.create(&cublas->handle_), "cublasCreate"));
  TW_RETURN_IF_ERROR(ToStatus(api.set_math_mode(cublas->handle_, kDefaultMath),
                              "cublasSetMathMode"));
  return cublas;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) api_.destroy(handle_);
}

absl::Status Cublas::Multiply(void* stream, int64_t n, const float* a,
                              const float* b, float* c) {
  TW_RETURN_IF_ERROR(
      ToStatus(api_.set_stream(handle_, stream), "cublasSetStream"));
  const float one = 1, zero = 0;
  const auto size = static_cast<int>(n);
  // Read column by column, the matrices are transposed: C' = B' A'.
  return ToStatus(api_.sgemm(handle_, kAsItIs, kAsItIs, size, size, size, &one,
                             b, size, a, size, &zero, c, size),
                  "cublasSgemm");
}

}  // namespace tilewright::cuda
