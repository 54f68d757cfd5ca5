// Scalar expressions: the body of a compute, the indices of its loads, and,
// after scheduling, the same bodies over loop variables.
//
// An Expr is an immutable tree (shared, cheap to copy). Leaves are constants,
// variables and loads. Indices and loop variables are i64. There are no
// operator kinds above this level: fusion and tiling look at expressions only.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_EXPR_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_EXPR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"

namespace tilewright {

class Expr {
 public:
  // An empty handle; may only be assigned to and tested.
  Expr() = default;
  explicit operator bool() const { return node_ != nullptr; }

  // Constants, rounded to what `dtype` holds; every NaN is the same NaN.
  static Expr Int(int64_t value,
                  DType dtype = DType::kInt64);  // integers and bool
  static Expr Float(double value, DType dtype = DType::kFloat32);
  // `id` is unique in its scope: the axis ordinal inside a compute, the loop id
  // inside a kernel.
  static Expr Var(int id, std::string name);
  // `source` is a tensor id in a graph, a buffer id in kernel IR. One i64 index
  // per dimension.
  static Expr Load(int source, DType dtype, std::vector<Expr> indices);
  // Any other operation, as it stands: nothing is simplified. REQUIRES: operand
  // count and dtypes fit `op` (CHECKed).
  static Expr Make(Op op, std::vector<Expr> operands);
  static Expr Cast(DType to, Expr operand);

  Op op() const;
  DType dtype() const;
  absl::Span<const Expr> operands() const;
  const Expr& operand(int i) const { return operands()[i]; }
  int64_t int_value() const;   // REQUIRES: kConst, not float
  double float_value() const;  // REQUIRES: kConst, float
  int var_id() const;          // REQUIRES: kVar
  const std::string& var_name() const;
  int source() const;  // REQUIRES: kLoad

  bool IsIntConst(int64_t value) const {
    return op() == Op::kConst && !IsFloat(dtype()) && int_value() == value;
  }
  // Same tree: same ops, dtypes, constants (floats by bits), ids.
  friend bool operator==(const Expr& a, const Expr& b);
  friend bool operator!=(const Expr& a, const Expr& b) { return !(a == b); }
  size_t hash() const;

  // For messages: infix, e.g. "max(%3[m, n] + %2[n], 0)".
  std::string ToString() const;

 private:
  friend class Rewriter;
  struct Node;
  static Expr FromNode(Node node);
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// i64 index arithmetic, folding constants and x+0, x*1, x*0 on the way.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr FloorDiv(const Expr& a, const Expr& b);
Expr FloorMod(const Expr& a, const Expr& b);

// Calls `fn` on every node, operands before their users; a shared node once per
// use.
void Visit(const Expr& expr, const std::function<void(const Expr&)>& fn);
// Rebuilds the tree bottom-up; where `fn` returns a non-empty Expr for a node
// (whose operands are already rewritten), it takes the node's place. `fn` is a
// pure function: it is called once for a node with several users.
Expr Rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& fn);
// Replaces variables: those for which `binding` returns a non-empty Expr.
Expr Substitute(const Expr& expr,
                const std::function<Expr(int var_id)>& binding);
// Rebuilds `expr` with other operands, keeping op, dtype, source and so on.
Expr WithOperands(const Expr& expr, std::vector<Expr> operands);

// As the text form spells it (docs/text_form.md), with names of tensors and
// variables given by the caller.
std::string PrintExpr(
    const Expr& expr, const std::function<std::string(int source)>& source_name,
    const std::function<std::string(const Expr& var)>& var_name);
// "3" (i64), "3:i32", "0.5" (f32), "0.5:f64", "true". REQUIRES: kConst.
std::string PrintConstant(const Expr& constant);
// The shortest decimal that reads back as `value` in `dtype`; "inf", "-inf",
// "nan".
std::string PrintFloat(double value, DType dtype);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_EXPR_H_
