#include "tools/gpu/product_report.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "tilegraph/expr/host_tensor.h"
#include "tools/gpu/check_graphs.h"
#include "tools/gpu/cublas.h"
#include "tools/gpu/graph_on_device.h"
#include "tools/gpu/planned_graph.h"
#include "tools/gpu/time_launches.h"

namespace tilewright::cuda {
namespace {

double LargestDifference(const std::string& a, const std::string& b) {
  double largest = 0;
  for (size_t at = 0; at + sizeof(float) <= a.size(); at += sizeof(float)) {
    float x, y;
    std::memcpy(&x, &a[at], sizeof(x));
    std::memcpy(&y, &b[at], sizeof(y));
    const double difference = std::abs(double{x} - double{y});
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

// The median of cuBLAS's times; `product` gets the difference.
absl::StatusOr<double> TimeCublas(Cublas& cublas, CudaDevice* device,
                                  const backends::Codegen& codegen, int samples,
                                  ProductTimes& product) {
  const int64_t n = product.n;
  TW_ASSIGN_OR_RETURN(const PlannedGraph planned,
                      PlanGraph(SquareProduct(n).TextOf(n), codegen));
  const std::map<TensorId, HostTensor> inputs = RandomInputs(planned.graph);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<GraphOnDevice> on,
                      GraphOnDevice::Load(device, &planned, inputs));
  const TensorId c = planned.graph.outputs()[0];
  TW_RETURN_IF_ERROR(on->LaunchAll());
  TW_ASSIGN_OR_RETURN(const std::string generated, on->Bytes(c));
  const auto multiply = [&] {
    return cublas.Multiply(device->native_stream(on->stream()), n,
                           static_cast<const float*>(on->AddressOf(0)),
                           static_cast<const float*>(on->AddressOf(1)),
                           static_cast<float*>(on->AddressOf(c)));
  };
  TW_RETURN_IF_ERROR(on->stream().Fill(on->AddressOf(c), 0xff,
                                       static_cast<int64_t>(generated.size())));
  TW_RETURN_IF_ERROR(multiply());
  TW_ASSIGN_OR_RETURN(const std::string theirs, on->Bytes(c));
  product.difference =
      LargestDifference(generated, theirs) / static_cast<double>(n);
  TW_ASSIGN_OR_RETURN(const std::vector<double> ns,
                      TimeLaunches(device, on->stream(), multiply, samples));
  if (!(product.difference <= kMostDifference)) {
    return absl::InternalError(
        absl::StrCat("its result is ", product.difference, " n from ours"));
  }
  return Median(ns);
}

}  // namespace

std::vector<ProductTimes> CheckProducts(const std::vector<int64_t>& sizes,
                                        const backends::Codegen& codegen,
                                        CudaDevice* device,
                                        const std::string& cublas_library,
                                        int samples) {
  std::vector<ProductTimes> products;
  absl::StatusOr<std::unique_ptr<Cublas>> cublas =
      absl::UnknownError("not opened");
  for (const int64_t n : sizes) {
    ProductTimes& product = products.emplace_back();
    product.n = n;
    product.generated =
        CheckGenerated(SquareProduct(n), codegen, {device, nullptr}, samples);
    // The first kernel made the device's context current.
    if (products.size() == 1) cublas = Cublas::Open(cublas_library);
    product.cublas_ns =
        cublas.ok() ? TimeCublas(**cublas, device, codegen, samples, product)
                    : absl::StatusOr<double>(cublas.status());
  }
  return products;
}

std::string ProductTable(const std::vector<ProductTimes>& products) {
  std::string text =
      "| n | tile | threads | ms | TFLOP/s | cuBLAS ms | TFLOP/s | share of "
      "cuBLAS | predicted ms | error "
      "|\n|---|---|---|---|---|---|---|---|---|---"
      "|\n";
  std::string why_not;
  for (const ProductTimes& product : products) {
    if (!product.generated.status.ok() || product.generated.kernels.empty()) {
      absl::StrAppend(&text, "| ", product.n, " | FAILED: ",
                      std::string(product.generated.status.message()), " |\n");
      continue;
    }
    const GeneratedKernel& kernel = product.generated.kernels.front();
    const double ns = std::max(kernel.events_ns, 1.0);
    const double flops = kernel.flops;
    std::string theirs = " | | |";
    if (product.cublas_ns.ok()) {
      const double cublas_ns = std::max(*product.cublas_ns, 1.0);
      theirs = absl::StrFormat(" %.3f | %.2f | %.0f %% |", cublas_ns * 1e-6,
                               flops / cublas_ns * 1e-3, 100 * cublas_ns / ns);
    } else {
      why_not = std::string(product.cublas_ns.status().message());
    }
    absl::StrAppend(
        &text,
        absl::StrFormat("| %d | %s | %d | %.3f | %.2f |%s %.3f | %s%.2g |\n",
                        product.n, kernel.tile, kernel.threads, ns * 1e-6,
                        flops / ns * 1e-3, theirs, kernel.predicted_ns * 1e-6,
                        product.generated.wrong() ? "WRONG: " : "",
                        product.generated.error));
  }
  if (!why_not.empty()) absl::StrAppend(&text, "\nNo cuBLAS: ", why_not, "\n");
  return text;
}

}  // namespace tilewright::cuda
