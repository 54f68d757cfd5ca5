// Random tables of decisions, over groups of every family: a generator or
// replay refuses a table with a reason, or it gives a kernel that computes what
// the reference interpreter computes, in both tiers. A table gives its schedule
// again when it is read back, what may not change bits does not, and none
// leaves too few tasks.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (2000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed. A failure prints its seed;
// run one alone with TILEWRIGHT_RANDOM_CASES=1.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/testing/decided_case.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "backends/spec/device_spec.pb.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::lowering {
namespace {

using sketch::SampleGroup;

constexpr int kParts = 8;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// The counts of one generator.
struct Tally {
  int64_t drawn = 0, refused = 0;
  int64_t none = 0;       // groups that have no schedule, whatever the answers
  int64_t compared = 0;   // whose bits must be the preferred kernel's
  int64_t reordered = 0;  // of those, whose table may change bits
};
using Tallies = std::map<std::string, Tally>;

// The group's machine, with and without FMA, unrolling more or less.
VectorTarget DrawTarget(const DeviceSpec& spec, uint64_t seed) {
  Random random(seed);
  VectorTarget target;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  target.registers = static_cast<int>(spec.unit().vector_registers());
  for (const MatrixUnit& unit : spec.unit().matrix_units())
    target.intrinsics.push_back(unit.name());
  const int unrolled[] = {1, 4, 64, 64};
  target.max_unrolled_vectors = unrolled[random.Index(4)];
  target.fma = random.Bernoulli(0.5);
  target.unroll_reduce = random.Bernoulli(0.5) ? 4 : 1;
  // Small, for the buffers are.
  target.prefetch_above_bytes = random.Bernoulli(0.3) ? 256 : 0;
  return target;
}

// The arguments after a run of the scalar tier, verified.
absl::StatusOr<std::vector<std::string>> RunScalar(const RandomCase& c,
                                                   const VectorTarget& target) {
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel kernel,
                      Legalize(c.kernel, target));
  std::vector<std::string> args = c.args;
  absl::Status status = kernel_ir::InterpretScalarKernel(
      kernel, absl::MakeSpan(args), 0, kernel.num_tasks);
  if (status.ok()) status = CheckResults(c, args);
  if (status.ok()) return args;
  return absl::InternalError(
      absl::StrCat("scalar tier: vectors of ", target.vector_bytes, " bytes, ",
                   target.max_unrolled_vectors, " unrolled, fma ", target.fma,
                   ": ", std::string(status.message())));
}

absl::Status CheckTileTier(const RandomCase& c) {
  std::vector<std::string> args = c.args;
  absl::Status status =
      kernel_ir::InterpretTileKernel(c.kernel, absl::MakeSpan(args));
  if (status.ok()) status = CheckResults(c, args);
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat("tile tier: ", std::string(status.message())));
}

// Checks that the answers of a table give the same again.
absl::Status CheckReadBack(const SampleGroup& group,
                           const DecidedCase& decided) {
  PreferredPolicy preferred;
  TablePolicy policy(AnswersOf(decided.table), preferred);
  Decider decider(policy);
  TW_ASSIGN_OR_RETURN(
      const sketch::Schedule again,
      Generate(group.generator, group.workload, group.spec, decider));
  if (!(again == decided.random_case.schedule))
    return absl::InternalError(
        absl::StrCat("read back: another schedule\n", again.ToString()));
  if (!policy.Rounded().empty() || !policy.Unused().empty())
    return absl::InternalError(absl::StrCat(
        "read back: rounded ", absl::StrJoin(policy.Rounded(), "; "),
        ", unused ", absl::StrJoin(policy.Unused(), ", ")));
  return absl::OkStatus();
}

// Tables nearby, as a search makes them: kept answers may not fit their spaces
// any more. They are rounded, or refused with a reason.
absl::Status CheckMutant(const SampleGroup& group, const DecidedCase& decided) {
  Random random(decided.random_case.seed);
  PreferredPolicy preferred;
  TablePolicy policy(Mutate(decided.table, 2, random), preferred);
  Decider decider(policy);
  const absl::StatusOr<sketch::Schedule> schedule =
      Generate(group.generator, group.workload, group.spec, decider);
  const absl::Status status =
      schedule.ok() ? sketch::Replay(group.workload, *schedule).status()
                    : schedule.status();
  if (status.ok() || absl::IsInvalidArgument(status)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("mutant: ", std::string(status.message()), "\n",
                   tilewright::ToString(decider.decisions())));
}

Answers MayChangeBits(const DecisionTable& table) {
  Answers answers;
  for (const Decision& decision : table) {
    if (decision.bits == Bits::kMayChange)
      answers[decision.name] = decision.space.Print(decision.value);
  }
  return answers;
}

// The first element of an output that differs, or "".
std::string Difference(const RandomCase& a,
                       const std::vector<std::string>& ours,
                       const RandomCase& b,
                       const std::vector<std::string>& theirs) {
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor& t = a.workload.graph.tensor(a.tensors[i]);
    if (t.kind != TensorKind::kCompute) continue;
    const auto other =
        std::find(b.tensors.begin(), b.tensors.end(), t.id) - b.tensors.begin();
    const HostTensor x = a.kernel.buffers[i].layout.Unpack(t.dtype, ours[i]),
                     y = b.kernel.buffers[other].layout.Unpack(t.dtype,
                                                               theirs[other]);
    const int64_t bytes =
        x.size_bytes() / std::max<int64_t>(1, x.num_elements());
    for (int64_t e = 0; e < x.num_elements(); ++e) {
      if (std::equal(x.data() + e * bytes, x.data() + (e + 1) * bytes,
                     y.data() + e * bytes))
        continue;
      return absl::StrCat("output ", t.name, " element ", e, " is ", x.Get(e).f,
                          " (", x.Get(e).i, "), not ", y.Get(e).f, " (",
                          y.Get(e).i, ")");
    }
  }
  return "";
}

// The bits are those of the preferred table with the same answers wherever bits
// may change. Where such answers do not fit there, nothing can be said.
absl::Status CheckBits(const SampleGroup& group, const DecidedCase& decided,
                       const std::vector<std::string>& results,
                       const VectorTarget& target, Tally& tally) {
  const Answers order = MayChangeBits(decided.table);
  PreferredPolicy preferred;
  TablePolicy policy(order, preferred);
  const absl::StatusOr<DecidedCase> rule =
      DecideCase(group, policy, decided.random_case.seed);
  if (absl::IsInvalidArgument(rule.status()) ||
      (rule.ok() && MayChangeBits(rule->table) != order))
    return absl::OkStatus();
  TW_RETURN_IF_ERROR(rule.status());
  if (rule->random_case.schedule.instructions.size() ==
          decided.random_case.schedule.instructions.size() &&
      AnswersOf(rule->table) == AnswersOf(decided.table))
    return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> want,
                      RunScalar(rule->random_case, target));
  ++tally.compared;
  tally.reordered += !order.empty();
  const std::string difference =
      Difference(decided.random_case, results, rule->random_case, want);
  if (difference.empty()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("bits: ", difference, "; vectors of ", target.vector_bytes,
                   " bytes, ", target.max_unrolled_vectors, " unrolled, fma ",
                   target.fma, "\npreferred:\n", rule->ToString(), "\ndrawn:"));
}

// Whatever is decided leaves as many tasks as the rule by itself, or four a
// core, whichever is less. A convolution in another form is other work: there
// the rule of that form counts.
absl::Status CheckTasks(const SampleGroup& group, const DecidedCase& decided) {
  Answers form = AnswersOf(decided.table);
  for (auto answer = form.begin(); answer != form.end();)
    answer = answer->first == "form" ? std::next(answer) : form.erase(answer);
  PreferredPolicy preferred;
  TablePolicy policy(form, preferred);
  Decider decider(policy);
  const absl::StatusOr<sketch::Schedule> rule =
      Generate(group.generator, group.workload, group.spec, decider);
  const absl::StatusOr<sketch::BlockTree> tree =
      rule.ok() ? sketch::Replay(group.workload, *rule) : rule.status();
  // Wishes of a fused group may hold with other answers alone.
  if (absl::IsInvalidArgument(tree.status())) return absl::OkStatus();
  TW_RETURN_IF_ERROR(tree.status());
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel kernel, Lower(*tree, "rule"));
  const int64_t tasks = decided.random_case.kernel.num_tasks(),
                least = std::min<int64_t>(kernel.num_tasks(),
                                          4 * group.spec.unit().cores());
  if (tasks >= least) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      tasks, " tasks, of ", kernel.num_tasks(), " that the rule leaves on ",
      group.spec.unit().cores(), " cores:\n", rule->ToString(),
      tilewright::ToString(decider.decisions()), "drawn:\n"));
}

absl::Status RunCase(uint64_t seed, Tallies& tallies, Refusals& refusals,
                     Refusals& unfused) {
  const SampleGroup group = sketch::DrawSampleGroup(seed);
  Tally& tally = tallies[group.generator.name];
  ++tally.drawn;
  RandomPolicy policy(seed);
  const absl::StatusOr<DecidedCase> decided = DecideCase(group, policy, seed);
  if (absl::IsInvalidArgument(decided.status())) {
    PreferredPolicy preferred;
    const absl::Status rule = DecideCase(group, preferred, seed).status();
    // Some groups cannot be fused so; the planner takes them apart again.
    if (group.generator.name == "fused" && absl::IsInvalidArgument(rule)) {
      ++tally.none;
      unfused.Add(group, rule);
      return absl::OkStatus();
    }
    ++tally.refused;
    refusals.Add(group, decided.status());
    return rule;  // preferred answers are never refused
  }
  TW_RETURN_IF_ERROR(decided.status());
  const VectorTarget target = DrawTarget(group.spec, seed);
  absl::Status status = CheckReadBack(group, *decided);
  if (status.ok()) status = CheckMutant(group, *decided);
  if (status.ok()) status = CheckTasks(group, *decided);
  if (status.ok()) status = CheckTileTier(decided->random_case);
  absl::StatusOr<std::vector<std::string>> results;
  if (status.ok()) {
    results = RunScalar(decided->random_case, target);
    status = results.status();
  }
  if (status.ok()) status = CheckBits(group, *decided, *results, target, tally);
  if (status.ok()) return status;
  return absl::InternalError(absl::StrCat(group.spec.name(), ", ",
                                          std::string(status.message()), "\n",
                                          decided->ToString()));
}

// A failed check aborts: the seed must be known then too.
volatile int64_t running_seed = 0;
void PrintSeed(int) {
  std::fprintf(stderr, "aborted in seed %lld\n",
               static_cast<long long>(running_seed));
}

class RandomDecisionsTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomDecisionsTest, ChangeNothingButTheKernel) {
  std::signal(SIGABRT, PrintSeed);
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 2000),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 0);
  Tallies tallies;
  Refusals refusals, unfused;
  int failures = 0;
  for (int64_t i = GetParam(); i < cases && failures < 5; i += kParts) {
    running_seed = first + i;
    const absl::Status status =
        RunCase(static_cast<uint64_t>(first + i), tallies, refusals, unfused);
    if (status.ok()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << first + i << ": "
                  << std::string(status.message());
  }
  for (const auto& [generator, t] : tallies) {
    std::printf(
        "%-20s %4lld drawn, %4lld without a schedule, %4lld refused, "
        "bits compared of %4lld (%lld with other sums)\n",
        generator.c_str(), static_cast<long long>(t.drawn),
        static_cast<long long>(t.none), static_cast<long long>(t.refused),
        static_cast<long long>(t.compared),
        static_cast<long long>(t.reordered));
    // A test of few accepted tables would see nothing.
    if (t.drawn >= 20) {
      EXPECT_LT(t.refused * 2, t.drawn) << generator;
    }
  }
  std::printf("refused:\n%swithout a schedule:\n%s",
              refusals.ToString().c_str(), unfused.ToString().c_str());
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomDecisionsTest,
                         ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
