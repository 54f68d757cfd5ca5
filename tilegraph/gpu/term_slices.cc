#include "tilegraph/gpu/term_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/load_spec.h"
#include "base/parallel_for.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/rewrite/split_terms.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {
namespace {

constexpr int64_t kMostSlices = 16;
// Terms of a slice: fewer do not pay for its own sum.
constexpr int64_t kLeastTerms = 128;
// Costs are estimates, and what is whole may be fused with more.
constexpr double kLeastGain = 1.1;

// Of sums that are no products, which as a rule are fused with what they sum.
constexpr int64_t kMostSlicesOfPlainSums = 64;
constexpr double kLeastGainOfPlainSums = 3;
// A lane's loads that are under way together: global averages of 64 channels of
// 256 x 256 took 110 us on an H100.
constexpr int64_t kLoadsInFlight = 11;

// The compute with what it reads as inputs.
TensorGraph Alone(const TensorGraph& graph, const Tensor& tensor) {
  TensorGraph alone;
  std::vector<TensorId> ids(static_cast<size_t>(graph.size()), -1);
  for (const TensorId id : graph.Inputs(tensor.id)) {
    const Tensor& input = graph.tensor(id);
    ids[static_cast<size_t>(id)] =
        alone.AddPlaceholder(input.name, input.dtype, input.shape);
  }
  alone.SetOutputs({CopyTensor(tensor, ids, alone)});
  return alone;
}

// No slices take less: two launches, and all multiply-adds on all cores.
double LeastSeconds(const Tensor& sum, const DeviceSpec& spec) {
  const double launches_s = 2e-9 * static_cast<double>(spec.unit().launch_ns());
  const double ops_per_s = CorePeak(spec, "f32", PeakRate::VECTOR) *
                           static_cast<double>(spec.unit().cores());
  if (ops_per_s <= 0) return launches_s;  // not known
  return launches_s + 2 * static_cast<double>(Points(sum)) / ops_per_s;
}

// How long lanes wait for what they sum where a warp has each sum (Little's
// law), by the number of slices; two launches if there are several.
double PlainSumSeconds(const Tensor& sum, const DeviceSpec& spec,
                       int64_t slices) {
  const MemoryLevel& memory = *GpuLevelsOf(spec)->memory;
  const auto bytes = static_cast<double>(SizeBytes(sum.dtype));
  double sums = static_cast<double>(slices);
  for (const Axis& axis : sum.compute.axes)
    sums *= static_cast<double>(axis.extent.value());
  const double in_flight =
      sums * static_cast<double>(spec.unit().warp_size() * kLoadsInFlight) *
      bytes;
  const double rate = std::min(memory.aggregate_read_bytes_per_s(),
                               in_flight / (memory.latency_ns() * 1e-9));
  return static_cast<double>(Points(sum)) * bytes / rate +
         (slices > 1 ? 2e-9 : 1e-9) *
             static_cast<double>(spec.unit().launch_ns());
}

int64_t SlicesOfPlainSum(const Tensor& sum, const DeviceSpec& spec) {
  int64_t chosen = 1;
  double best = PlainSumSeconds(sum, spec, 1) / kLeastGainOfPlainSums;
  for (int64_t slices = 2;
       slices <= kMostSlicesOfPlainSums && CanSplitTerms(sum, slices) &&
       TermsOf(sum.compute) / slices >= kLeastTerms;
       slices *= 2) {
    const double seconds = PlainSumSeconds(sum, spec, slices);
    if (seconds >= best) continue;
    best = seconds;
    chosen = slices;
  }
  return chosen;
}

// Of a graph of sums, each as a kernel, in slices; nullopt if one has no tiles.
std::optional<double> Seconds(const TensorGraph& sums, int64_t slices,
                              const DeviceSpec& spec,
                              const GpuTilingOptions& options) {
  const TensorGraph split =
      SplitTerms(sums, [&](const Tensor& tensor) {
        return tensor.kind == TensorKind::kCompute ? slices : 1;
      }).graph;
  double seconds = 0;
  for (const Tensor& tensor : split.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    const TileGraph tiles(split, {tensor.id});
    const absl::StatusOr<std::vector<GpuTilePlan>> plans =
        TileForGpu(tiles, tiles.SubgraphOf({tensor.id}), spec, options);
    if (!plans.ok()) return std::nullopt;
    seconds += plans->front().cost.seconds;
  }
  return seconds;
}

int64_t SlicesOfProduct(const TensorGraph& alone, const DeviceSpec& spec,
                        const GpuTilingOptions& options) {
  const Tensor& sum = alone.tensor(alone.outputs()[0]);
  const std::optional<double> whole = Seconds(alone, 1, spec, options);
  if (!whole) return 1;
  int64_t chosen = 1;
  double best = *whole / kLeastGain;
  double before = std::numeric_limits<double>::infinity();  // fewer slices
  if (best <= LeastSeconds(sum, spec)) return 1;
  for (int64_t slices = 2; slices <= kMostSlices; slices *= 2) {
    if (!CanSplitTerms(sum, slices) ||
        TermsOf(sum.compute) / slices < kLeastTerms)
      break;
    const std::optional<double> seconds = Seconds(alone, slices, spec, options);
    if (!seconds) continue;
    if (*seconds < best) {
      best = *seconds;
      chosen = slices;
    }
    // Once sums of slices outweigh what more blocks gain, more slices do too.
    if (*seconds >= before) break;
    before = *seconds;
  }
  return chosen;
}

}  // namespace

std::vector<int64_t> TermSlices(const TensorGraph& graph,
                                const DeviceSpec& spec,
                                const GpuTilingOptions& options, int threads) {
  struct Product {  // equal ones once
    TensorGraph alone;
    std::vector<TensorId> computes;
    int64_t slices = 1;
  };
  std::vector<Product> products;
  std::map<std::string, size_t> known;  // by the text of the compute alone
  std::vector<int64_t> slices(static_cast<size_t>(graph.size()), 1);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute ||
        TermsOf(tensor.compute) < 2 * kLeastTerms || !CanSplitTerms(tensor, 2))
      continue;
    if (!AsContraction(graph, tensor.id)) {
      slices[static_cast<size_t>(tensor.id)] = SlicesOfPlainSum(tensor, spec);
      continue;
    }
    TensorGraph alone = Alone(graph, tensor);
    const auto [product, is_new] =
        known.emplace(PrintText(alone), products.size());
    if (is_new) products.push_back({std::move(alone), {}, 1});
    products[product->second].computes.push_back(tensor.id);
  }
  ParallelFor(static_cast<int64_t>(products.size()), threads, [&](int64_t i) {
    Product& product = products[static_cast<size_t>(i)];
    product.slices = SlicesOfProduct(product.alone, spec, options);
  });
  for (const Product& product : products) {
    for (const TensorId id : product.computes)
      slices[static_cast<size_t>(id)] = product.slices;
  }
  return slices;
}

}  // namespace tilewright
