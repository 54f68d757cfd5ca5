// Terms over the inputs' elements say what an element of an output is. Equal
// terms have one number, so whether two kernels compute the same is a
// comparison of numbers, and it holds for every input.
#ifndef TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_TERMS_H_
#define TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_TERMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::measure {

using Term = int32_t;

enum class TermKind : uint8_t {
  kConst,
  kInput,      // of a buffer, an element
  kUndefined,  // memory that was not written: equal to nothing else
  kOp,
  kFma,  // a · b + c, rounded once
  kScale,
  kLookup,
  kPermute,  // byte, then the table
  kBitcast,
  kStored,    // rounded to a narrower dtype, as memory keeps it
  kDot,       // acc, then pairs of factors
  kGathered,  // of an input, at an address that is a term
  kSum,       // canonical terms only: of all operands, in any order
  kProduct,
  kCompared,
  kLargest,
  kSmallest,
};

struct TermNode {
  TermKind kind;
  Op op;  // kOp
  DType dtype, operand_dtype;
  std::vector<Term> operands;
  std::string payload;  // what else tells it from others
  Scalar value;         // kConst
};

class Terms {
 public:
  Term Const(DType dtype, Scalar value);
  Term Input(DType dtype, int buffer, int64_t element);
  // Another one with every call.
  Term Undefined(DType dtype);
  // Applied to constants it is a constant. `operand_dtype`: as of EvaluateOp.
  Term Apply(Op op, DType dtype, DType operand_dtype,
             const std::vector<Term>& operands);
  Term Fma(DType dtype, Term a, Term b, Term c);
  // A term of any other kind; nothing is known about it but its operands.
  // `payload`: what else tells it from others.
  Term Make(TermKind kind, DType dtype, const std::vector<Term>& operands,
            const std::string& payload = "");

  // Until the next term is made.
  const TermNode& node(Term term) const { return nodes_[term]; }
  DType dtype(Term term) const { return nodes_[term].dtype; }
  // Its value, if it is a constant.
  std::optional<Scalar> Value(Term term) const;

 private:
  Term Number(TermNode node);

  std::vector<TermNode> nodes_;
  std::unordered_map<std::string, Term> numbers_;
  int64_t undefined_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_TERMS_H_
