#include "frontends/onnx/ops/einsum/contraction_order.h"

#include <limits>
#include <set>
#include <utility>

#include "base/check.h"

namespace tilewright {
namespace {

using Labels = std::set<char>;

constexpr int kMostOperands = 8;

// All orders at once: the best way to multiply each subset of the operands, a
// bit of a number each, is the best of its ways to be cut in two.
class Orders {
 public:
  Orders(absl::Span<const std::string> operands, const std::string& result,
         const std::map<char, int64_t>& extent)
      : operands_(operands), result_(result), extent_(extent) {
    best_.resize(size_t{1} << operands.size());
    for (unsigned all = 1; all < best_.size(); ++all) FindBest(all);
  }

  std::vector<Contraction> Take() {
    Contract(static_cast<unsigned>(best_.size()) - 1);
    if (!steps_.empty()) steps_.back().labels = result_;
    return std::move(steps_);
  }

 private:
  struct Best {
    double cost = 0;
    unsigned a = 0;  // one of the two parts; 0: it is one operand
    Labels labels;   // of the product
  };

  double Elements(const Labels& labels) const {
    double elements = 1;
    for (const char label : labels)
      elements *= static_cast<double>(extent_.at(label));
    return elements;
  }

  static Labels Union(Labels a, const Labels& b) {
    a.insert(b.begin(), b.end());
    return a;
  }

  // Labels that the result or an operand outside of `part` has.
  Labels NeededOutside(unsigned part) const {
    Labels needed(result_.begin(), result_.end());
    for (size_t i = 0; i < operands_.size(); ++i) {
      if ((part >> i & 1) == 0)
        needed.insert(operands_[i].begin(), operands_[i].end());
    }
    return needed;
  }

  void FindBest(unsigned all) {
    Best& best = best_[all];
    const unsigned first = all & (~all + 1);
    if (all == first) {
      for (size_t i = 0; i < operands_.size(); ++i) {
        if (all >> i & 1)
          best.labels = Labels(operands_[i].begin(), operands_[i].end());
      }
      return;
    }
    const Labels needed = NeededOutside(all);
    best.cost = std::numeric_limits<double>::infinity();
    for (unsigned a = (all - 1) & all; a != 0; a = (a - 1) & all) {
      if ((a & first) == 0) continue;  // It is the other part of another a.
      const Labels both = Union(best_[a].labels, best_[all ^ a].labels);
      Labels labels;
      for (const char label : both) {
        if (needed.count(label) > 0) labels.insert(label);
      }
      const double cost = best_[a].cost + best_[all ^ a].cost + Elements(both) +
                          Elements(labels);
      if (cost < best.cost) best = {cost, a, std::move(labels)};
    }
  }

  // The factor that it becomes.
  int Contract(unsigned all) {
    const Best& best = best_[all];
    if (best.a == 0) {
      int operand = 0;
      while ((all >> operand & 1) == 0) ++operand;
      return operand;
    }
    const int a = Contract(best.a);
    const int b = Contract(all ^ best.a);
    std::string labels, of_a_alone, of_b_alone;
    for (const char label : best.labels) {
      const bool in_a = best_[best.a].labels.count(label) > 0;
      const bool in_b = best_[all ^ best.a].labels.count(label) > 0;
      (in_a && in_b ? labels : in_a ? of_a_alone : of_b_alone) += label;
    }
    labels += of_a_alone + of_b_alone;
    steps_.push_back({a, b, std::move(labels)});
    return static_cast<int>(operands_.size() + steps_.size()) - 1;
  }

  absl::Span<const std::string> operands_;
  const std::string& result_;
  const std::map<char, int64_t>& extent_;
  std::vector<Best> best_;  // by subset
  std::vector<Contraction> steps_;
};

}  // namespace

std::vector<Contraction> OrderContractions(
    absl::Span<const std::string> operands, const std::string& result,
    const std::map<char, int64_t>& extent) {
  TW_CHECK(!operands.empty() &&
           operands.size() <= static_cast<size_t>(kMostOperands));
  return Orders(operands, result, extent).Take();
}

}  // namespace tilewright
