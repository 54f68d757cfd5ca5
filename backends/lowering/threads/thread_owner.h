// Which thread of a block has which element of a buffer, read from the index
// of an access in a nest of thread loops. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OWNER_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OWNER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

// The thread loops around an operation, outermost first.
using ThreadNest = std::vector<const kernel_ir::For*>;

// The threads n that touch elements with index i along a dimension have n / div
// mod extent equal to i / coefficient mod extent.
struct OwnerDigit {
  int dim;
  int64_t coefficient;
  int64_t div;
  int64_t extent;
  friend bool operator==(const OwnerDigit& a, const OwnerDigit& b) {
    return a.dim == b.dim && a.coefficient == b.coefficient && a.div == b.div &&
           a.extent == b.extent;
  }
  friend bool operator<(const OwnerDigit& a, const OwnerDigit& b) {
    return a.dim != b.dim ? a.dim < b.dim : a.coefficient < b.coefficient;
  }
};

struct Owner {
  std::vector<OwnerDigit> digits;  // ascending
  std::set<int> missing;  // variables of loops of the nest that the index does
                          // not depend on: all their threads touch the element
  friend bool operator==(const Owner& a, const Owner& b) {
    return a.digits == b.digits;
  }
};

// nullopt where the element alone does not tell, whatever the other variables
// are: two threads may touch it though the index depends on both.
std::optional<Owner> OwnerOf(absl::Span<const Expr> index,
                             const ThreadNest& nest, const RangeOf& ranges);

// Where an element lies among those of its thread: the index without the
// digits of the owner, the others moved together. REQUIRES: the owner is of
// this index.
std::vector<Expr> IndexWithin(absl::Span<const Expr> index, const Owner& owner,
                              const ThreadNest& nest, const RangeOf& ranges);

// The index with neighbouring dimensions of a buffer of that shape as one, the
// last the fastest, where a loop moves several of them, as one over fused axes
// does. Elements with different indices have different ones here too.
std::vector<Expr> JoinDims(absl::Span<const Expr> index,
                           const std::vector<int64_t>& shape,
                           const RangeOf& ranges);

// The loops whose threads touch the same elements while everything outside the
// nest stands still; other threads never do. nullopt: unknown.
std::optional<std::set<int>> LoopsThatShare(absl::Span<const Expr> index,
                                            const ThreadNest& nest,
                                            const std::set<int>& inside,
                                            const RangeOf& ranges);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_THREAD_OWNER_H_
