// cuBLAS, opened at run time, to compare products with.
#ifndef TILEWRIGHT_TOOLS_GPU_CUBLAS_H_
#define TILEWRIGHT_TOOLS_GPU_CUBLAS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/shared_library.h"

namespace tilewright::cuda {

using CublasHandle = struct CublasContext*;

// X(member, symbol, parameters): of cublas_v2.h, matrices column by column.
#define TILEWRIGHT_CUBLAS_SYMBOLS(X)                                      \
  X(create, cublasCreate_v2, (CublasHandle * handle))                     \
  X(destroy, cublasDestroy_v2, (CublasHandle handle))                     \
  X(set_stream, cublasSetStream_v2, (CublasHandle handle, void* stream))  \
  X(set_math_mode, cublasSetMathMode, (CublasHandle handle, int mode))    \
  X(sgemm, cublasSgemm_v2,                                                \
    (CublasHandle handle, int transpose_a, int transpose_b, int m, int n, \
     int k, const float* alpha, const float* a, int lda, const float* b,  \
     int ldb, const float* beta, float* c, int ldc))

struct CublasApi {
#define TILEWRIGHT_MEMBER(member, symbol, parameters) \
  int(*member) parameters = nullptr;
  TILEWRIGHT_CUBLAS_SYMBOLS(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
  std::unique_ptr<backends::SharedLibrary> library;
};

// Products in fp32, without TF32.
class Cublas {
 public:
  // Opens `path`, or where it is empty cuBLAS's usual names.
  // FailedPrecondition: it is not there. REQUIRES: the device's context is
  // current.
  static absl::StatusOr<std::unique_ptr<Cublas>> Open(
      const std::string& path = "");
  ~Cublas();

  // C = A B, n x n, row by row, on a stream of the driver's.
  absl::Status Multiply(void* stream, int64_t n, const float* a, const float* b,
                        float* c);

 private:
  Cublas() = default;
  CublasApi api_;
  CublasHandle handle_ = nullptr;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_CUBLAS_H_
