// The Decider answers every decision a generator asks for, by name. A run
// records the table of what was decided; a policy gives the answers.
//
//   const int64_t rows = decider.DecideNumber(
//       "tile.rows", Space::Integers(1, 14), [&] { return RowsByRule(); });
#ifndef TILEWRIGHT_TILEGRAPH_DECISION_DECIDER_H_
#define TILEWRIGHT_TILEGRAPH_DECISION_DECIDER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright {

// The generator's own rule: run only if its answer is needed.
using Prefer = absl::FunctionRef<DecisionValue()>;

class DecisionPolicy {
 public:
  virtual ~DecisionPolicy() = default;
  // A member of `space`. Asked again with the same name and space, in the same
  // run, the answer is the same.
  virtual DecisionValue Answer(const std::string& name, const Space& space,
                               Prefer preferred) = 0;
};

class Decider {
 public:
  // `policy` must outlive it.
  explicit Decider(DecisionPolicy& policy) : policy_(policy) {}
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;

  // REQUIRES: no decision of this name stands in the table yet; what
  // `preferred` returns is a member of `space`.
  DecisionValue Decide(std::string_view name, const Space& space,
                       Prefer preferred, Bits bits = Bits::kSame);
  // Decides in a space whose values are one number.
  int64_t DecideNumber(std::string_view name, const Space& space,
                       absl::FunctionRef<int64_t()> preferred,
                       Bits bits = Bits::kSame);
  // "no" or "yes".
  bool DecideWhether(std::string_view name, absl::FunctionRef<bool()> preferred,
                     Bits bits = Bits::kSame);

  const DecisionTable& decisions() const { return table_; }

  // While it lives, names begin with `prefix` and a dot: those of one stage.
  class Scope {
   public:
    Scope(Decider& decider, std::string_view prefix);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Decider& decider_;
    const size_t outer_length_;
  };

  // An attempt: at its end the decisions made in its life leave the table,
  // unless they are kept.
  class Trial {
   public:
    explicit Trial(Decider& decider)
        : decider_(decider), first_(decider.table_.size()) {}
    ~Trial();
    void Keep() { keep_ = true; }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    Decider& decider_;
    const size_t first_;
    bool keep_ = false;
  };

 private:
  DecisionPolicy& policy_;
  std::string prefix_;
  DecisionTable table_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_DECISION_DECIDER_H_
