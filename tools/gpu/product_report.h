// Large products in fp32: generated, in the planner's tiles, beside cuBLAS.
#ifndef TILEWRIGHT_TOOLS_GPU_PRODUCT_REPORT_H_
#define TILEWRIGHT_TOOLS_GPU_PRODUCT_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "tools/gpu/generated_report.h"

namespace tilewright::cuda {

struct ProductTimes {
  int64_t n = 0;
  GeneratedGraph generated;
  absl::StatusOr<double> cublas_ns = 0.0;  // by events; an error says why not
  // Largest difference between its result and the generated kernel's, over n:
  // the same matrices were multiplied if that is small.
  double difference = 0;
};

// `cublas_library`: empty for cuBLAS's usual names. All by events.
std::vector<ProductTimes> CheckProducts(const std::vector<int64_t>& sizes,
                                        const backends::Codegen& codegen,
                                        CudaDevice* device,
                                        const std::string& cublas_library,
                                        int samples);

// How far sums in fp32 of n products of values in [-1, 1] may be apart, over n;
// with TF32 they are five times as far and more.
inline constexpr double kMostDifference = 1e-6;

std::string ProductTable(const std::vector<ProductTimes>& products);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_PRODUCT_REPORT_H_
