// Index expressions over the loops around a block, in a form whose values can
// be counted. Internal to costmodel/features.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_INDEX_FORM_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_INDEX_FORM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::costmodel {

// A set of loops around one block: bit i is loop i, the outermost first.
using LoopSet = uint64_t;
inline constexpr int kMaxLoops = 64;

struct Interval {
  int64_t low, high;  // both included
};

// A loop nest as far as indices see it.
class LoopNest {
 public:
  // REQUIRES: at most kMaxLoops.
  LoopNest(std::vector<int> vars, std::vector<int64_t> extents, int num_vars);

  int size() const { return static_cast<int>(extents_.size()); }
  int64_t extent(int loop) const { return extents_[loop]; }
  // The loop of a variable; -1 if it is none of this nest.
  int Find(int var) const { return loop_of_var_[var]; }

 private:
  std::vector<int64_t> extents_;
  std::vector<int> loop_of_var_;
};

// constant + sum of coefficients times loops + sum of coefficients times opaque
// expressions: divisions, remainders and whatever else is not linear.
struct IndexForm {
  struct Linear {
    int loop;
    int64_t coefficient;
  };
  struct Opaque {
    Expr expr;  // over loop variables
    LoopSet loops;
    int64_t coefficient;
    bool unbounded;  // it depends on data
  };
  int64_t constant = 0;
  std::vector<Linear> linear;  // distinct loops; coefficients are not 0
  std::vector<Opaque> opaque;

  void Add(const IndexForm& other, int64_t factor);
  // That it depends on.
  LoopSet Loops() const;
};

// The form of an expression over loop variables, or over a block's axes, whose
// forms are then `axes`, and for which `axis_bindings` stand in opaque parts.
IndexForm FormOfLoops(const Expr& expr, const LoopNest& nest);
IndexForm FormOfAxes(const Expr& expr, const LoopNest& nest,
                     absl::Span<const IndexForm> axes,
                     absl::Span<const Expr> axis_bindings);

// The values that an index takes inside an extent of `shape` elements, while
// loops `first`, first + 1, ... run and those further out are at 0: how many,
// and from where to where. Exact for linear forms whose terms are nested
// (tiles) or overlap in equal steps (windows); else at most the interval.
struct IndexValues {
  double count;
  Interval hull;
};
IndexValues ValuesOf(const IndexForm& form, const LoopNest& nest, int first,
                     int64_t shape);

// By how much the index moves when loop `loop` goes from 0 to 1 with all others
// at 0.
int64_t StepOf(const IndexForm& form, const LoopNest& nest, int loop);

// An integer expression's value where loop i is at point[i]; loads are 0.
int64_t ValueAt(const Expr& expr, const LoopNest& nest,
                absl::Span<const int64_t> point);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_INDEX_FORM_H_
