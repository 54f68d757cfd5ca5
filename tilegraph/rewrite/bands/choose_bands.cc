#include "tilegraph/rewrite/bands/choose_bands.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class Chooser {
 public:
  Chooser(const TensorGraph& graph, const BandOptions& options)
      : graph_(graph), options_(options), consumers_(graph.Consumers()) {
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) computes_.push_back(tensor.id);
    }
    is_output_.assign(graph.size(), false);
    for (const TensorId id : graph.outputs()) is_output_[id] = true;
  }

  // The best way to cut the list of computes into parts: least[i] is what the
  // first i move.
  absl::StatusOr<BandPlan> Run() {
    const int count = static_cast<int>(computes_.size());
    std::vector<int64_t> least(count + 1, kNever);
    std::vector<BandedPart> last(count + 1);
    least[0] = 0;
    for (int begin = 0; begin < count; ++begin) {
      if (least[begin] == kNever) continue;
      TW_RETURN_IF_ERROR(Extend(begin, least, last));
    }
    if (least[count] == kNever) {
      int reached = count;
      while (least[reached] == kNever) --reached;
      return absl::ResourceExhaustedError(absl::StrCat(
          "no band of ", graph_.tensor(computes_[reached]).name, " fits into ",
          options_.cap_bytes, " bytes; raise the cap"));
    }
    BandPlan plan;
    plan.moved_bytes = least[count];
    for (int end = count; end > 0;
         end -= static_cast<int>(plan.parts.back().members.size()))
      plan.parts.push_back(std::move(last[end]));
    std::reverse(plan.parts.begin(), plan.parts.end());
    return plan;
  }

 private:
  // All parts that begin with compute number `begin`.
  absl::Status Extend(int begin, std::vector<int64_t>& least,
                      std::vector<BandedPart>& last) {
    BandedPart part;
    std::set<TensorId> open;  // members that are read later
    int reductions = 0;
    int64_t bands = 1;
    for (int end = begin; end < static_cast<int>(computes_.size()) &&
                          end - begin < options_.most_members;
         ++end) {
      const TensorId id = computes_[end];
      reductions += graph_.tensor(id).compute.combiner.has_value();
      if (reductions > std::max(1, options_.most_reductions)) break;
      // The output of a shorter part that leaves the model ends it.
      if (!part.members.empty() && is_output_[part.members.back()]) break;
      part.members.push_back(id);
      open.insert(id);
      for (auto member = open.begin(); member != open.end();) {
        const std::vector<TensorId>& readers = consumers_[*member];
        const bool done =
            *member != id && !readers.empty() && readers.back() <= id;
        member = done ? open.erase(member) : std::next(member);
      }
      if (open.size() > 1) continue;
      const std::optional<int64_t> moved = Fit(part, bands);
      if (!moved) break;  // longer ones take more
      if (least[begin] + *moved < least[end + 1]) {
        least[end + 1] = least[begin] + *moved;
        last[end + 1] = part;
      }
    }
    return absl::OkStatus();
  }

  // Bytes that `part` moves in the fewest bands that fit, at least `bands`,
  // which becomes that number; sets the part's dimension and rows.
  std::optional<int64_t> Fit(BandedPart& part, int64_t& bands) {
    const std::vector<int64_t> shape =
        graph_.tensor(part.members.back()).static_shape();
    double points = 0;
    for (const TensorId member : part.members)
      points += static_cast<double>(graph_.tensor(member).num_elements());
    const int64_t most =
        shape.empty() ? 0 : *std::max_element(shape.begin(), shape.end());
    for (; bands <= most; bands = std::max(bands + 1, bands * 5 / 4)) {
      std::optional<int64_t> best;
      BandedPart chosen = part;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < bands) continue;
        part.dim = static_cast<int>(d);
        part.rows = CeilDiv(shape[d], bands);
        const absl::StatusOr<BandedCost> cost = CostOfBands(graph_, part);
        if (!cost.ok() || cost->band_bytes > options_.cap_bytes ||
            cost->points > points * options_.most_recompute)
          continue;
        if (best && *best <= cost->moved_bytes) continue;
        best = cost->moved_bytes;
        chosen = part;
        if (bands == 1) break;  // whole, whatever the dimension
      }
      if (!best) continue;
      part = std::move(chosen);
      return best;
    }
    return std::nullopt;
  }

  const TensorGraph& graph_;
  const BandOptions& options_;
  const std::vector<std::vector<TensorId>>& consumers_;
  std::vector<TensorId> computes_;
  std::vector<bool> is_output_;
};

}  // namespace

absl::StatusOr<BandPlan> ChooseBands(const TensorGraph& graph,
                                     const BandOptions& options) {
  return Chooser(graph, options).Run();
}

}  // namespace tilewright
