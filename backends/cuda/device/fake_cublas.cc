// As much of cuBLAS as is compared with, over the fake device.
#include <cstdint>

#include "backends/cuda/device/fake_device.h"

using namespace tilewright::cuda;        // NOLINT: the API implemented here
using namespace tilewright::cuda::fake;  // NOLINT

namespace {

struct Handle {
  CuStream stream = nullptr;
};

}  // namespace

TILEWRIGHT_EXPORT int cublasCreate_v2(Handle** handle) {
  if (const int planned = Planned("cublasCreate_v2")) return planned;
  *handle = new Handle;
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT int cublasDestroy_v2(Handle* handle) {
  delete handle;
  CountLive(-1);
  return 0;
}
TILEWRIGHT_EXPORT int cublasSetStream_v2(Handle* handle, CuStream stream) {
  handle->stream = stream;
  return 0;
}
TILEWRIGHT_EXPORT int cublasSetMathMode(Handle*, int mode) {
  return mode == 0 ? 0 : kInvalidValue;  // no TF32
}
// Column by column, as BLAS has it.
TILEWRIGHT_EXPORT int cublasSgemm_v2(Handle* handle, int transpose_a,
                                     int transpose_b, int m, int n, int k,
                                     const float* alpha, const float* a,
                                     int lda, const float* b, int ldb,
                                     const float* beta, float* c, int ldc) {
  if (transpose_a != 0 || transpose_b != 0 || *beta != 0 ||
      handle->stream == nullptr) {
    return kInvalidValue;
  }
  StreamOf(handle->stream).Enqueue([=, scale = *alpha] {
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t row = 0; row < m; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum += double{a[i * lda + row]} * double{b[column * ldb + i]};
        c[column * ldc + row] = static_cast<float>(scale * sum);
      }
    }
  });
  return 0;
}
