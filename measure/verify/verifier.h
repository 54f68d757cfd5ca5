// The verifier: whether a kernel computes its workload. What it checks, and
// why, is in docs/verifying.md:
//
//   1. on small integers, where rounding cannot hide anything, results match
//   bit for bit (groups of ring operations, max, min, moves)
//   2. on real values every element is within kBoundFactor (4) times its error
//   bound; what picks by
//      value (max, argmax, indices) is also run with picks planted everywhere
//      in turn
//   3. elements whose error bound is infinite, or as large as the output, are
//   counted; where more than 3 % of an output are, nothing is verified
//   4. the reference is the expressions as plain float64 loops, itself compared
//   with the interpreter
//   5. buffers end, in one run, and begin, in the other, at an inaccessible
//   page; outputs start as NaN; inputs are compared afterwards;
//      one run with 1 thread and one with N agree bitwise; a crash or a hang is
//      a verdict
//   6. a convolution by Winograd is compared with the convolution itself:
//      F(2, 3) like any kernel, F(4, 3) by rule 2 alone with 16 times the
//      bounds
//
// A verifier is made once per workload and verifies any number of candidates,
// one at a time.
#ifndef TILEWRIGHT_MEASURE_VERIFY_VERIFIER_H_
#define TILEWRIGHT_MEASURE_VERIFY_VERIFIER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/fingerprint.h"
#include "measure/inputs/input_sets.h"
#include "measure/verify/candidate.h"
#include "measure/verify/hidden_bytes.h"
#include "measure/verify/packed_tensors.h"
#include "measure/verify/spare_buffers.h"
#include "sketch/trace/workload.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::measure {

struct VerifierOptions {
  uint64_t seed = 1;
  int threads = 2;  // of the second run; also used for the reference
  double timeout_seconds =
      60;  // of both runs on one set of inputs, in a child process
  // Kernels under --allow: relative error of one operation (2^-9 for bf16,
  // 2^-11 for TF32 and fp16 arithmetic), which also ends the exact comparison
  // unless the workload is all integers; `bound_scale` is 16 for Winograd
  // F(4,3).
  double unit = 0x1p-24;
  double bound_scale = 1;
  // The bytes of inputs in memory order, and again of buffers for runs, that
  // are kept from candidate to candidate.
  int64_t kept_bytes = int64_t{128} << 20;
};

struct Verdict {
  bool ok = true;
  std::string reason;  // empty if ok; else one line: which output and element,
                       // what was found, what was expected, on which set
  double largest_error =
      0;  // of the real set, in units of the bound; up to 4 is right
  // The share of elements that no error bound says anything about
  // (unbounded_share.h), in the output where it is largest. Above 3 % nothing
  // is right.
  double unbounded_share = 0;
  // Fingerprint of the outputs' elements on all sets of real values, with one
  // thread: kernels of a workload that differ in it compute other bits.
  std::string bits;
  bool exact_checked = false;  // rule 1 applied
  bool ran = true;             // else it failed to, and:
  bool timed_out = false;
  int signal = 0;  // that ended it, if any
  // CPU time that verifying it took: filling buffers, the runs with what they
  // need around them, and comparing.
  int64_t packing_ns = 0, running_ns = 0, comparing_ns = 0;
};

enum class Isolation : uint8_t {
  kChild,      // machine code: runs in a forked child
  kInProcess,  // interpreters
};

class Verifier {
 public:
  // Draws inputs and computes references. InvalidArgument if the graph is no
  // graph, Internal if reference and interpreter disagree.
  static absl::StatusOr<std::unique_ptr<Verifier>> Create(
      const sketch::Workload& workload, const VerifierOptions& options);

  // InvalidArgument if `arguments` do not fit the workload; ResourceExhausted
  // and Unavailable where the machine, not the candidate, failed.
  absl::StatusOr<Verdict> Check(const Arguments& arguments,
                                const Candidate& candidate,
                                Isolation isolation) const;

  // The bytes it keeps now: inputs, references, and what kept_bytes says.
  int64_t size_bytes() const;

 private:
  struct Set {
    std::string name;
    bool exact = false;
    InputSet inputs;
    std::map<TensorId, ReferenceTensor> expected;
  };
  struct KeptSet {
    std::string name;
    bool exact = false;
    HiddenInputs inputs;
    std::map<TensorId, HiddenReference> expected;
  };
  struct Run;  // buffers of one run

  Verifier(const sketch::Workload& workload, const VerifierOptions& options);
  // Draws inputs and their reference; `turn` >= 0: with picks planted. False if
  // integers cannot stay exact.
  absl::StatusOr<bool> AddExactSet(int turn);
  absl::Status AddRealSet(int turn);
  absl::Status AddSets();
  void CountUnbounded(const Set& real);
  void Keep(const Set& set);
  absl::StatusOr<Run> PrepareRun(const Arguments& arguments, const KeptSet& set,
                                 int threads, GuardSide side) const;
  absl::Status Execute(const Arguments& arguments, const Candidate& candidate,
                       Isolation isolation, const std::vector<Run>& runs,
                       Verdict& verdict) const;
  void VerifyMemory(const Arguments& arguments, const Run& run,
                    Verdict& verdict) const;
  void VerifyOutputs(const Arguments& arguments, const Run& run,
                     Verdict& verdict) const;
  void VerifyAgreement(const Arguments& arguments, const Run& one,
                       const Run& many, Verdict& verdict) const;
  void AddBitsOf(const Arguments& arguments, const Run& run,
                 Fingerprinter& bits) const;
  bool IsOutput(TensorId id) const {
    return graph_.tensor(id).kind == TensorKind::kCompute;
  }

  TensorGraph graph_;
  std::map<TensorId, Layout> layouts_;
  std::map<TensorId, KnownZeros> zeros_;  // in every set of inputs
  VerifierOptions options_;
  bool zero_signs_free_ =
      false;  // sums may be taken in any order, and 0 + -0 is 0
  std::vector<KeptSet> sets_;
  double unbounded_share_ = 0;
  TensorId least_bounded_ = -1;  // the output that has this share
  mutable PackedTensors packed_;
  mutable SpareBuffers spare_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_VERIFIER_H_
