#include "measure/inputs/input_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "measure/inputs/positive_values.h"

namespace tilewright::measure {
namespace {

// Where a tensor's values go, found by one look at all expressions.
struct Uses {
  std::map<TensorId, int64_t> index_extent;  // read as an index of a dimension
                                             // of this extent (the smallest)
  std::set<TensorId> positive;               // reaches a function with a domain
  std::set<TensorId> flags;                  // integers that are zero or one
  std::map<TensorId, int64_t> sum_terms;  // to be divided by the root of this
  std::map<TensorId, double> small;       // to be multiplied by this
};

class UseFinder {
 public:
  explicit UseFinder(const TensorGraph& graph) : graph_(graph), signs_(graph) {
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) Look(tensor);
    }
  }
  Uses Take() { return std::move(uses_); }

 private:
  void Look(const Tensor& tensor) {
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad) LookAtIndices(e);
        if (e.op() == Op::kSqrt) {
          MarkPositive(e.operand(0), false);
          LookAtEpsilon(e.operand(0));
        }
        if (e.op() == Op::kLog || e.op() == Op::kPow)
          MarkPositive(e.operand(0), true);
        if (e.op() == Op::kDiv && IsFloat(e.dtype()))
          MarkPositive(e.operand(1), true);
        if (e.op() == Op::kMul) LookAtMask(e);
      });
    }
    if (tensor.compute.combiner &&
        tensor.compute.combiner->kind() == Combiner::Kind::kSum)
      Scale(tensor.compute);
  }

  void LookAtIndices(const Expr& load) {
    for (size_t d = 0; d < load.operands().size(); ++d) {
      const int64_t extent = graph_.tensor(load.source()).shape[d].value();
      Visit(load.operand(static_cast<int>(d)), [&](const Expr& e) {
        if (e.op() == Op::kLoad) MarkIndex(e.source(), extent);
      });
    }
  }

  void MarkIndex(TensorId id, int64_t extent) {
    const auto [known, added] = uses_.index_extent.insert({id, extent});
    if (!added && known->second <= extent) return;
    known->second = extent;
    for (const TensorId source : graph_.Inputs(id)) MarkIndex(source, extent);
  }

  // Zero or one times the lowest number masks what it is added to; any other
  // integer overflows.
  void LookAtMask(const Expr& product) {
    constexpr double kHuge = 1e30;
    for (const int i : {0, 1}) {
      const Expr& factor = product.operand(1 - i);
      if (factor.op() == Op::kConst && IsFloat(factor.dtype()) &&
          std::fabs(factor.float_value()) >= kHuge)
        MarkFlags(product.operand(i));
    }
  }
  void MarkFlags(const Expr& e) {
    Visit(e, [&](const Expr& node) {
      if (node.op() != Op::kLoad) return;
      const Tensor& source = graph_.tensor(node.source());
      if (source.kind == TensorKind::kCompute) {
        if (!source.compute.combiner && masked_.insert(source.id).second)
          MarkFlags(source.compute.body[0]);
      } else if (!IsFloat(source.dtype)) {
        uses_.flags.insert(source.id);
      }
    });
  }

  // An epsilon that is added to a variance shows only if the variance is not
  // much larger: it is made 64 times the epsilon.
  void LookAtEpsilon(const Expr& sum) {
    constexpr double kLeast = 1e-7, kMost = 1e-3;
    if (sum.op() != Op::kAdd) return;
    for (const int i : {0, 1}) {
      const Expr &epsilon = sum.operand(i), &variance = sum.operand(1 - i);
      if (epsilon.op() != Op::kConst || !IsFloat(epsilon.dtype()) ||
          epsilon.float_value() < kLeast || epsilon.float_value() > kMost)
        continue;
      Visit(variance, [&](const Expr& e) {
        if (e.op() == Op::kLoad)
          MarkSmall(e.source(), 8 * std::sqrt(epsilon.float_value()));
      });
    }
  }
  // Makes the values of `id` small; of factors that are summed up, the first
  // is.
  void MarkSmall(TensorId id, double factor) {
    const Tensor& tensor = graph_.tensor(id);
    if (!IsFloat(tensor.dtype) || tensor.kind == TensorKind::kConstant ||
        !uses_.small.emplace(id, factor).second)
      return;
    bool found = false;
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad || (found && tensor.compute.combiner)) return;
        found = true;
        MarkSmall(e.source(), factor);
      });
    }
  }

  void MarkPositive(const Expr& e, bool strictly) {
    if (signs_.IsPositive(e, strictly)) return;
    Visit(e, [&](const Expr& node) {
      if (node.op() == Op::kLoad) MarkPositive(node.source());
    });
  }
  void MarkPositive(TensorId id) {
    if (!uses_.positive.insert(id).second) return;
    for (const TensorId source : graph_.Inputs(id)) MarkPositive(source);
  }

  // The smallest float input of a sum takes the root of the number of terms.
  void Scale(const Compute& compute) {
    int64_t terms = 1;
    for (const Axis& axis : compute.reduce_axes) terms *= axis.extent.value();
    TensorId smallest = -1;
    Visit(compute.body[0], [&](const Expr& e) {
      if (e.op() != Op::kLoad || !IsFloat(e.dtype()) ||
          graph_.tensor(e.source()).kind == TensorKind::kCompute)
        return;
      if (smallest < 0 || graph_.tensor(e.source()).num_elements() <
                              graph_.tensor(smallest).num_elements())
        smallest = e.source();
    });
    if (smallest >= 0)
      uses_.sum_terms[smallest] = std::max(uses_.sum_terms[smallest], terms);
  }

  const TensorGraph& graph_;
  PositiveValues signs_;
  std::set<TensorId> masked_;  // computes that were looked at for flags
  Uses uses_;
};

int64_t DrawInteger(DType dtype, int64_t largest, Random& random) {
  const bool is_unsigned = dtype >= DType::kUInt8 && dtype <= DType::kUInt64;
  return random.UniformInt(is_unsigned ? 0 : -largest, largest);
}

// Draws what is the same in all kinds of sets: true if `tensor` was filled.
bool DrawCommon(const Tensor& tensor, const Uses& uses, Random& random,
                HostTensor& out) {
  const int64_t count = out.num_elements();
  if (tensor.kind == TensorKind::kConstant && !IsFloat(tensor.dtype) &&
      tensor.value != nullptr && tensor.value->num_elements() == count) {
    out = *tensor.value;
    return true;
  }
  if (const auto used = uses.index_extent.find(tensor.id);
      used != uses.index_extent.end()) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t index = random.UniformInt(0, used->second - 1);
      out.Set(k, {static_cast<double>(index), index});
    }
    return true;
  }
  if (tensor.dtype == DType::kBool || uses.flags.count(tensor.id) > 0) {
    for (int64_t k = 0; k < count; ++k)
      out.Set(k, {0, random.UniformInt(0, 1)});
    return true;
  }
  return false;
}

template <typename Fill>
InputSet Draw(const TensorGraph& graph, Random& random, Fill fill) {
  const Uses uses = UseFinder(graph).Take();
  InputSet set;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) continue;
    HostTensor values(tensor.dtype, tensor.static_shape());
    if (!DrawCommon(tensor, uses, random, values)) fill(tensor, uses, values);
    set[tensor.id] = std::move(values);
  }
  return set;
}

}  // namespace

InputSet DrawExactSet(const TensorGraph& graph, int64_t largest,
                      Random& random) {
  return Draw(graph, random,
              [&](const Tensor& tensor, const Uses&, HostTensor& values) {
                for (int64_t k = 0; k < values.num_elements(); ++k) {
                  const int64_t value =
                      DrawInteger(tensor.dtype, largest, random);
                  values.Set(k, {static_cast<double>(value), value});
                }
              });
}

InputSet DrawRealSet(const TensorGraph& graph, Random& random,
                     const std::map<TensorId, Spread>& spreads) {
  return Draw(
      graph, random,
      [&](const Tensor& tensor, const Uses& uses, HostTensor& values) {
        const auto terms = uses.sum_terms.find(tensor.id);
        const double scale =
            terms == uses.sum_terms.end()
                ? 1
                : 1 / std::sqrt(static_cast<double>(terms->second));
        const auto small = uses.small.find(tensor.id);
        const auto given = spreads.find(tensor.id);
        const Spread spread =
            given != spreads.end()
                ? given->second
                : Spread{0, small == uses.small.end() ? scale
                                                      : scale * small->second};
        const bool positive = uses.positive.count(tensor.id) > 0;
        for (int64_t k = 0; k < values.num_elements(); ++k) {
          if (!IsFloat(tensor.dtype)) {
            values.Set(k,
                       {0, DrawInteger(tensor.dtype, kLargestInteger, random)});
          } else {
            values.Set(
                k, {positive ? random.Uniform(0.5, 1.5)
                             : spread.mean + spread.deviation * random.Normal(),
                    0});
          }
        }
      });
}

std::map<TensorId, int64_t> IndexExtents(const TensorGraph& graph) {
  return UseFinder(graph).Take().index_extent;
}

std::map<TensorId, IntegerRange> IntegerRanges(const TensorGraph& graph) {
  const Uses uses = UseFinder(graph).Take();
  std::map<TensorId, IntegerRange> ranges;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder || IsFloat(tensor.dtype) ||
        tensor.dtype == DType::kBool)
      continue;
    const auto index = uses.index_extent.find(tensor.id);
    if (index != uses.index_extent.end()) {
      ranges[tensor.id] = {0, std::max<int64_t>(0, index->second - 1)};
    } else if (uses.flags.count(tensor.id) > 0) {
      ranges[tensor.id] = {0, 1};
    }
  }
  return ranges;
}

void MakePositive(InputSet& set) {
  for (auto& [id, values] : set) {
    if (!IsFloat(values.dtype())) continue;
    for (int64_t k = 0; k < values.num_elements(); ++k) {
      const double value = std::fabs(values.Get(k).f);
      values.Set(k, {value == 0 ? 1 : value, 0});
    }
  }
}

namespace {

bool AnyBody(const TensorGraph& graph, Op a, Op b) {
  bool found = false;
  for (const Tensor& tensor : graph.tensors()) {
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        found = found || ((e.op() == a || e.op() == b) && IsFloat(e.dtype()));
      });
    }
  }
  return found;
}

}  // namespace

bool HasClipping(const TensorGraph& graph) {
  return AnyBody(graph, Op::kMax, Op::kMin);
}

bool HasCeiling(const TensorGraph& graph) {
  return AnyBody(graph, Op::kMin, Op::kMin);
}

bool HasExponential(const TensorGraph& graph) {
  const auto combines = [](const Tensor& t) {
    return t.compute.combiner &&
           t.compute.combiner->kind() == Combiner::Kind::kMaxSumExp;
  };
  return AnyBody(graph, Op::kExp, Op::kExp) ||
         std::any_of(graph.tensors().begin(), graph.tensors().end(), combines);
}

}  // namespace tilewright::measure
