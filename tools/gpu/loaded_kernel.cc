#include "tools/gpu/loaded_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

constexpr int64_t kComparedElements = 2000;

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedKernel>> LoadedKernel::Load(
    backends::Device* device, const backends::DeviceModule& module,
    const CheckKernel& kernel, uint64_t seed) {
  std::unique_ptr<LoadedKernel> loaded(new LoadedKernel(kernel));
  TW_ASSIGN_OR_RETURN(loaded->function_,
                      device->GetKernel(module, kernel.name));
  TW_ASSIGN_OR_RETURN(loaded->stream_, device->CreateStream());
  Random random(seed);
  for (size_t i = 0; i < kernel.elements.size(); ++i) {
    const int64_t bytes = kernel.elements[i] * int64_t{sizeof(float)};
    TW_ASSIGN_OR_RETURN(auto buffer, device->Allocate(bytes));
    loaded->addresses_.push_back(buffer->address());
    loaded->buffers_.push_back(std::move(buffer));
    if (i + 1 == kernel.elements.size()) {
      TW_RETURN_IF_ERROR(
          loaded->stream_->Fill(loaded->addresses_.back(), 0xff, bytes));
      break;
    }
    std::vector<float> values(static_cast<size_t>(kernel.elements[i]));
    for (float& value : values) {
      value = static_cast<float>(random.Uniform(-1, 1));
    }
    TW_RETURN_IF_ERROR(
        loaded->stream_->Copy(loaded->addresses_.back(), values.data(), bytes));
    loaded->inputs_.push_back(std::move(values));
  }
  TW_RETURN_IF_ERROR(loaded->stream_->Synchronize());
  return loaded;
}

absl::Status LoadedKernel::Launch() {
  return stream_->Launch(*function_, addresses_, kernel_.num_tasks,
                         kernel_.scratch_bytes);
}

absl::StatusOr<double> LoadedKernel::WorstError() {
  const int64_t elements = kernel_.elements.back();
  std::vector<float> output(static_cast<size_t>(elements));
  TW_RETURN_IF_ERROR(stream_->Copy(output.data(), addresses_.back(),
                                   elements * int64_t{sizeof(float)}));
  TW_RETURN_IF_ERROR(stream_->Synchronize());
  // Evenly over the output, with an odd step, and its last element.
  const int64_t step =
      elements <= kComparedElements ? 1 : elements / kComparedElements | 1;
  const double unit =
      std::max<double>(kernel_.tolerance, std::numeric_limits<float>::min());
  double worst = 0;
  const auto compare = [&](int64_t index) {
    const double error = std::abs(output[static_cast<size_t>(index)] -
                                  kernel_.expected(inputs_, index)) /
                         unit;
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity()
                              : std::max(worst, error);
  };
  for (int64_t index = 0; index < elements; index += step) compare(index);
  compare(elements - 1);
  return worst;
}

}  // namespace tilewright::cuda
