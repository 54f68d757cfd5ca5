// Terms up to rounding: what two terms have in common that differ in the order
// of a sum alone.
#ifndef TILEWRIGHT_MEASURE_TESTING_CANONICAL_TERMS_H_
#define TILEWRIGHT_MEASURE_TESTING_CANONICAL_TERMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "measure/testing/symbolic_terms.h"

namespace tilewright::measure {

// One term for all that are the same by these laws: sums and products of floats
// in any order; x - y is x + -y, and minus signs move out of products and sums;
// an input times zero is zero, as every input that reaches a product is finite;
// max and min in any order, equal operands once, also where they are a
// comparison and a select; comparisons of the same two values as one, those of
// integers decided by all the values that selects leave them. Equal results of
// two terms prove that they differ by the rounding of sums and products and in
// the sign of zeros at most. Different results prove nothing. No law cancels
// anything: a softmax that subtracts something else from its row, and may
// overflow, is another term.
class CanonicalTerms {
 public:
  explicit CanonicalTerms(Terms* terms) : terms_(*terms) {}
  Term Of(Term term);

 private:
  // Factors, and how often; constants are factors too.
  struct Product {
    bool negative = false;
    std::map<Term, int> powers;
  };
  // Products of positive sign, and how often: -1 for one that is subtracted.
  using Sum = std::map<Term, int>;

  Term Compute(Term term);
  Term OfSum(Term term);
  Term OfProduct(Term term);
  Term OfChoice(Term term, Op op);
  Term OfComparison(Op op, DType dtype, Term a, Term b);
  Term OfLogic(Op op, Term a, Term b);
  Term OfSelect(DType dtype, const std::vector<Term>& operands);
  Term Compared(Term a, Term b, int outcomes);
  // Whether `comparison` is never true where `ordered`, that a value is no NaN,
  // is false.
  bool Implies(Term comparison, Term ordered) const;
  // All that an integer can be: a constant, or selected constants.
  std::optional<std::set<int64_t>> ValuesOf(Term term);

  // Adds what a term adds up, or multiplies what it multiplies.
  void Add(Term term, bool negative, Sum& sum);
  void Multiply(Term term, Product& product);
  // Splits a canonical term: whether it is a negated one, and which.
  std::pair<bool, Term> SignOf(Term canonical);
  Term Negated(bool negative, Term canonical);
  Term FromProduct(const Product& product);
  bool IsZero(const Product& product) const;

  Terms& terms_;
  std::map<Term, Term> known_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_CANONICAL_TERMS_H_
