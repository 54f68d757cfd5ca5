#include "measure/verify/verifier.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/verify/check_arguments.h"
#include "measure/verify/cpu_spent.h"
#include "measure/verify/isolated_run.h"
#include "measure/verify/unbounded_share.h"
#include "tilegraph/ir/physical.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/verify_output.h"

namespace tilewright::measure {
namespace {

void Reject(Verdict& verdict, std::string reason) {
  if (!verdict.ok) return;
  verdict.ok = false;
  verdict.reason = std::move(reason);
}

bool IsMachineError(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
         absl::IsUnimplemented(status);
}

// How much wider bounds of F(4, 3) are than those of the direct form.
constexpr double kLargeTilesScale = 16;

bool HasLargeTiles(const Arguments& arguments) {
  return std::any_of(arguments.winograd.begin(), arguments.winograd.end(),
                     [](int m) { return m > 2; });
}

void AddBits(const Layout& layout, int64_t element_bytes, const char* data,
             Fingerprinter& bits) {
  std::string elements;
  PhysicalOffsets(layout).ForEach([&](int64_t, int64_t offset) {
    elements.append(data + offset * element_bytes,
                    static_cast<size_t>(element_bytes));
  });
  bits.AddString(elements);
}

bool HasFloatSum(const TensorGraph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    const std::optional<Combiner>& combiner = tensor.compute.combiner;
    if (combiner && combiner->kind() == Combiner::Kind::kSum &&
        IsFloat(combiner->acc()))
      return true;
  }
  return false;
}

}  // namespace

struct Verifier::Run {
  const KeptSet* set;
  int threads;
  GuardSide side;
  std::vector<GuardedBuffer> buffers;        // by argument
  std::vector<PackedTensors::Bytes> before;  // what they held, by argument
  std::string name() const {
    return absl::StrCat(set->name, " set, ", threads,
                        threads == 1 ? " thread" : " threads");
  }
};

Verifier::Verifier(const sketch::Workload& workload,
                   const VerifierOptions& options)
    : graph_(workload.graph),
      layouts_(workload.layouts),
      zeros_(workload.zeros),
      options_(options),
      zero_signs_free_(HasFloatSum(workload.graph)),
      packed_(options.kept_bytes),
      spare_(options.kept_bytes) {}

int64_t Verifier::size_bytes() const {
  int64_t bytes = packed_.size_bytes() + spare_.size_bytes();
  for (const KeptSet& set : sets_) {
    for (const auto& [id, input] : set.inputs) bytes += input.size_bytes();
    for (const auto& [id, one] : set.expected) bytes += one.size_bytes();
  }
  return bytes;
}

void Verifier::Keep(const Set& set) {
  KeptSet& kept = sets_.emplace_back();
  kept.name = set.name;
  kept.exact = set.exact;
  kept.inputs = Hide(set.inputs);
  for (const auto& [id, tensor] : set.expected)
    kept.expected.try_emplace(id, tensor);
}

absl::StatusOr<std::unique_ptr<Verifier>> Verifier::Create(
    const sketch::Workload& workload, const VerifierOptions& options) {
  TW_RETURN_IF_ERROR(VerifyGraph(workload.graph));
  std::unique_ptr<Verifier> verifier(new Verifier(workload, options));
  TW_RETURN_IF_ERROR(verifier->AddSets());
  return verifier;
}

absl::StatusOr<Verifier::Run> Verifier::PrepareRun(const Arguments& arguments,
                                                   const KeptSet& set,
                                                   int threads,
                                                   GuardSide side) const {
  Run run{&set, threads, side, {}, {}};
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const Tensor& tensor = graph_.tensor(arguments.tensors[i]);
    const Layout& layout = arguments.layouts[i];
    const PackedTensors::Bytes before =
        IsOutput(tensor.id)
            ? packed_.Unwritten(layout, tensor.dtype)
            : packed_.Packed(absl::StrCat(&set - sets_.data(), " ", tensor.id),
                             layout, set.inputs.at(tensor.id),
                             arguments.WinogradOf(i));
    TW_ASSIGN_OR_RETURN(GuardedBuffer buffer,
                        spare_.Take(before->size_bytes(), side));
    if (before->size_bytes() > 0) {
      std::memcpy(buffer.data(), before->data(),
                  static_cast<size_t>(before->size_bytes()));
    }
    run.buffers.push_back(std::move(buffer));
    run.before.push_back(before);
  }
  return run;
}

absl::StatusOr<Verdict> Verifier::Check(const Arguments& arguments,
                                        const Candidate& candidate,
                                        Isolation isolation) const {
  TW_RETURN_IF_ERROR(CheckArguments(graph_, layouts_, arguments));
  Verdict verdict;
  verdict.unbounded_share = unbounded_share_;
  if (unbounded_share_ > kMostUnboundedShare) {
    Reject(verdict,
           absl::StrFormat(
               "%.1f %% of output '%s' cannot be verified, as error "
               "bounds say nothing there; at most %.0f %% may be so",
               100 * unbounded_share_, graph_.tensor(least_bounded_).name,
               100 * kMostUnboundedShare));
  }
  // The first set that finds something ends it. Large tiles of Winograd are
  // not exact on integers.
  const bool large_tiles = HasLargeTiles(arguments);
  Fingerprinter bits;
  for (size_t i = 0; i < sets_.size() && verdict.ok; ++i) {
    if (large_tiles && sets_[i].exact) continue;
    verdict.exact_checked = verdict.exact_checked || sets_[i].exact;
    const int64_t start_ns = CpuSpentNs();
    std::vector<Run> runs;
    TW_ASSIGN_OR_RETURN(Run one,
                        PrepareRun(arguments, sets_[i], 1, GuardSide::kEnd));
    TW_ASSIGN_OR_RETURN(
        Run many,
        PrepareRun(arguments, sets_[i], options_.threads, GuardSide::kBegin));
    runs.push_back(std::move(one)), runs.push_back(std::move(many));
    const int64_t packed_ns = CpuSpentNs();
    TW_RETURN_IF_ERROR(Execute(arguments, candidate, isolation, runs, verdict));
    const int64_t ran_ns = CpuSpentNs();
    for (const Run& run : runs) VerifyMemory(arguments, run, verdict);
    VerifyOutputs(arguments, runs[0], verdict);
    VerifyAgreement(arguments, runs[0], runs[1], verdict);
    if (verdict.ok && !sets_[i].exact) AddBitsOf(arguments, runs[0], bits);
    for (Run& run : runs) {
      for (GuardedBuffer& buffer : run.buffers)
        spare_.Give(std::move(buffer), run.side);
    }
    verdict.packing_ns += packed_ns - start_ns;
    verdict.running_ns += ran_ns - packed_ns;
    verdict.comparing_ns += CpuSpentNs() - ran_ns;
  }
  verdict.bits = bits.Finish().ToString();
  return verdict;
}

void Verifier::AddBitsOf(const Arguments& arguments, const Run& run,
                         Fingerprinter& bits) const {
  for (size_t i = 0; i < run.buffers.size(); ++i) {
    const Tensor& tensor = graph_.tensor(arguments.tensors[i]);
    if (!IsOutput(tensor.id)) continue;
    bits.AddInt(static_cast<uint64_t>(tensor.id));
    AddBits(arguments.layouts[i], SizeBytes(tensor.dtype),
            run.buffers[i].data(), bits);
  }
}

absl::Status Verifier::Execute(const Arguments& arguments,
                               const Candidate& candidate, Isolation isolation,
                               const std::vector<Run>& runs,
                               Verdict& verdict) const {
  const auto work = [&]() -> absl::Status {
    for (const Run& run : runs) {
      CandidateRun request;
      for (const GuardedBuffer& buffer : run.buffers) {
        request.args.push_back(buffer.data());
        request.sizes_bytes.push_back(buffer.size_bytes());
      }
      request.threads = run.threads;
      request.scratch_guard = run.side;
      const absl::Status status = candidate(request);
      if (!status.ok())
        return absl::Status(status.code(), absl::StrCat(status.message(), " (",
                                                        run.name(), ")"));
    }
    return absl::OkStatus();
  };
  if (isolation == Isolation::kInProcess) {
    const absl::Status status = work();
    if (IsMachineError(status)) return status;
    verdict.ran = status.ok();
    if (!status.ok()) Reject(verdict, std::string(status.message()));
    return absl::OkStatus();
  }
  const IsolatedOutcome outcome = RunIsolated(work, options_.timeout_seconds);
  if (IsMachineError(outcome.status)) return outcome.status;
  verdict.signal = outcome.signal;
  verdict.timed_out = outcome.kind == IsolatedOutcome::Kind::kTimeout;
  verdict.ran = outcome.status.ok();
  if (outcome.kind == IsolatedOutcome::Kind::kFault) {
    const char* const verb = outcome.is_write ? "writes" : "reads";
    for (const Run& run : runs) {
      for (size_t i = 0; i < run.buffers.size(); ++i) {
        if (!run.buffers[i].Owns(outcome.address)) continue;
        const int64_t offset =
            static_cast<const char*>(outcome.address) - run.buffers[i].data();
        Reject(verdict, absl::StrCat(verb, " outside '",
                                     graph_.tensor(arguments.tensors[i]).name,
                                     "': at byte ", offset, " of ",
                                     run.buffers[i].size_bytes(), " (",
                                     run.name(), ")"));
        return absl::OkStatus();
      }
    }
    Reject(verdict, absl::StrCat(outcome.status.message(), ": ", verb,
                                 " memory that is none of its buffers"));
  } else if (!outcome.status.ok()) {
    Reject(verdict, std::string(outcome.status.message()));
  }
  return absl::OkStatus();
}

// Nothing but outputs was written.
void Verifier::VerifyMemory(const Arguments& arguments, const Run& run,
                            Verdict& verdict) const {
  for (size_t i = 0; i < run.buffers.size(); ++i) {
    const Tensor& tensor = graph_.tensor(arguments.tensors[i]);
    const GuardedBuffer& buffer = run.buffers[i];
    if (!buffer.SlackIntact())
      Reject(verdict, absl::StrCat("writes outside '", tensor.name, "' (",
                                   run.name(), ")"));
    if (IsOutput(tensor.id)) {
      const int64_t byte = FirstNonZeroPadding(arguments.layouts[i],
                                               tensor.dtype, buffer.data());
      if (byte >= 0)
        Reject(
            verdict,
            absl::StrCat("output '", tensor.name,
                         "': padding that must stay zero was written at byte ",
                         byte, " (", run.name(), ")"));
      continue;
    }
    const HiddenBytes& before = *run.before[i];
    if (before.size_bytes() > 0 &&
        std::memcmp(before.data(), buffer.data(),
                    static_cast<size_t>(before.size_bytes())) != 0)
      Reject(verdict, absl::StrCat("writes to input '", tensor.name, "' (",
                                   run.name(), ")"));
  }
}

void Verifier::VerifyOutputs(const Arguments& arguments, const Run& run,
                             Verdict& verdict) const {
  for (size_t i = 0; i < run.buffers.size(); ++i) {
    const TensorId id = arguments.tensors[i];
    if (!IsOutput(id)) continue;
    const double scale = HasLargeTiles(arguments)
                             ? std::max(options_.bound_scale, kLargeTilesScale)
                             : options_.bound_scale;
    const double factor = kBoundFactor * scale;
    const OutputVerdict verified = VerifyOutput(
        run.set->expected.at(id).View(), arguments.layouts[i],
        run.buffers[i].data(), factor, zero_signs_free_ || !run.set->exact);
    verdict.largest_error =
        std::max(verdict.largest_error, verified.largest_error);
    if (!verified.reason.empty())
      Reject(verdict, absl::StrCat("output '", graph_.tensor(id).name, "' ",
                                   verified.reason, " (", run.name(), ")"));
  }
}

void Verifier::VerifyAgreement(const Arguments& arguments, const Run& one,
                               const Run& many, Verdict& verdict) const {
  for (size_t i = 0; i < one.buffers.size(); ++i) {
    const Tensor& tensor = graph_.tensor(arguments.tensors[i]);
    if (!IsOutput(tensor.id)) continue;
    if (std::memcmp(one.buffers[i].data(), many.buffers[i].data(),
                    static_cast<size_t>(one.buffers[i].size_bytes())) == 0)
      continue;
    const int64_t size = SizeBytes(tensor.dtype);
    int64_t different = 0;
    PhysicalOffsets(arguments.layouts[i]).ForEach([&](int64_t, int64_t offset) {
      different += std::memcmp(one.buffers[i].data() + offset * size,
                               many.buffers[i].data() + offset * size,
                               static_cast<size_t>(size)) != 0;
    });
    if (different > 0) {
      Reject(verdict,
             absl::StrCat("output '", tensor.name, "': ", different,
                          " elements have other bits with ", many.threads,
                          " threads than with 1 (", one.set->name, " set)"));
    }
  }
}

}  // namespace tilewright::measure
