// The node that an Expr points to. Private to expr.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_EXPR_NODE_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_EXPR_NODE_H_

#include <string>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

struct Expr::Node {
  Op op;
  DType dtype;
  std::vector<Expr> operands = {};
  int64_t i = 0;          // Integer constant, variable id or source.
  double f = 0;           // Float constant.
  std::string name = {};  // a variable's; no part of equality
  size_t hash = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_EXPR_NODE_H_
