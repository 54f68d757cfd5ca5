// The value of an index expression or condition at given variables, for
// enumerating small domains.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_INDEX_EVAL_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_INDEX_EVAL_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {

// Called for every load that is really evaluated; gives its value.
using LoadAt =
    std::function<int64_t(const Expr& load, absl::Span<const int64_t> index)>;
using ValueOf = std::function<int64_t(int var_id)>;

// Floats, and what is computed from them, give 0, but their loads are visited.
int64_t EvalIndex(const Expr& e, const ValueOf& value,
                  const LoadAt& load = nullptr);
// `values[id]` is the value of Var(id).
int64_t EvalIndex(const Expr& e, absl::Span<const int64_t> values,
                  const LoadAt& load = nullptr);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_INDEX_EVAL_H_
