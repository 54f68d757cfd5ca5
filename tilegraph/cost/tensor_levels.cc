#include "tilegraph/cost/tensor_levels.h"

#include <limits>

#include "backends/spec/load_spec.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

double Bytes(const Tensor& tensor) {
  return static_cast<double>(tensor.num_elements() * SizeBytes(tensor.dtype));
}

}  // namespace

TensorLevels::TensorLevels(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec)
    : graph_(graph), plan_(plan) {
  const std::vector<MemoryLevel> levels = LevelsOfCore(spec);
  const int own = PrivateLevel(spec);
  const CostModel& model = CostModelOf(spec);
  for (int level = 0; level <= own; ++level) {
    const bool holds = level == 0 || levels[level].kind() == MemoryLevel::CACHE;
    held_bytes_.push_back(level == 0 ? std::numeric_limits<double>::infinity()
                          : holds
                              ? CapacityBytes(levels[level]) *
                                    (level == own ? model.kept_private_share()
                                                  : model.kept_shared_share())
                              : 0);
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant) constant_bytes_ += Bytes(tensor);
  }
}

int TensorLevels::Of(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  // Every run reads all constants.
  const double bytes =
      tensor.kind == TensorKind::kConstant ? constant_bytes_ : Bytes(tensor);
  int level = static_cast<int>(held_bytes_.size()) - 1;
  while (bytes > held_bytes_[level]) --level;
  return level;
}

const Layout* TensorLevels::LayoutOf(TensorId id) const {
  const auto layout = plan_.layouts.find(id);
  return layout == plan_.layouts.end() ? nullptr : &layout->second;
}

int TensorLevels::VectorDim(TensorId id) const {
  const int rank = static_cast<int>(graph_.tensor(id).shape.size());
  const Layout* layout = LayoutOf(id);
  if (layout != nullptr) {
    for (size_t i = 0; i < layout->digits().size(); ++i) {
      const Layout::Digit& digit = layout->digits()[i];
      if (digit.extent > 1 && digit.div == 1 &&
          layout->stride(static_cast<int>(i)) == 1)
        return digit.dim;
    }
  }
  return rank - 1;
}

}  // namespace tilewright
