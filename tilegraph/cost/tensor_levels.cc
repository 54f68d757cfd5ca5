#include "tilegraph/cost/tensor_levels.h"

#include <algorithm>
#include <limits>

#include "backends/spec/load_spec.h"
#include "tilegraph/cost/core_levels.h"

namespace tilewright {
namespace {

// By level, of what was used last.
std::vector<double> HeldBytes(const DeviceSpec& spec) {
  std::vector<double> held_bytes;
  const std::vector<MemoryLevel> levels = LevelsOfCore(spec);
  const int own = PrivateLevel(spec);
  const CostModel& model = CostModelOf(spec);
  held_bytes.push_back(std::numeric_limits<double>::infinity());
  for (int level = 1; level <= own; ++level) {
    const double share =
        level == own ? model.kept_private_share() : model.kept_shared_share();
    held_bytes.push_back(levels[level].kind() == MemoryLevel::CACHE
                             ? share * CapacityBytes(levels[level])
                             : 0);
  }
  return held_bytes;
}

// Of the caches.
double MostBytes(const std::vector<double>& held_bytes) {
  double most = 0;
  for (size_t level = 1; level < held_bytes.size(); ++level)
    most = std::max(most, held_bytes[level]);
  return most;
}

}  // namespace

TensorLevels::TensorLevels(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec)
    : graph_(graph),
      plan_(plan),
      held_bytes_(HeldBytes(spec)),
      distances_(graph, plan, MostBytes(held_bytes_)) {}

int TensorLevels::Of(TensorId id, const Group& group) const {
  const bool computed =
      std::binary_search(group.members.begin(), group.members.end(), id);
  const double bytes = computed ? distances_.AfterBytes(id, group)
                                : distances_.BeforeBytes(id, group);
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
