#include "search/space.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::search {
namespace {

// Reasons that differ in numbers alone are one.
std::string WithoutNumbers(const std::string& message) {
  std::string text;
  for (const char c : message) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
  }
  return text;
}

// An index drawn in proportion to the weights; none if all are 0.
std::optional<size_t> DrawIndex(const std::vector<double>& weights,
                                Random& random) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (!(sum > 0)) return std::nullopt;
  double rest = random.Uniform(0, sum);
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    rest -= weights[i];
    if (rest < 0) break;
  }
  return last;
}

// Another policy answers what is searched, the rules the rest.
class SearchedPolicy : public DecisionPolicy {
 public:
  using IsSearched = std::function<bool(const std::string&)>;
  SearchedPolicy(const IsSearched& is_searched, DecisionPolicy& searched)
      : is_searched_(is_searched), searched_(searched) {}

  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override {
    PreferredPolicy rules;
    DecisionPolicy& who =
        is_searched_ && !is_searched_(name) ? rules : searched_;
    return who.Answer(name, space, preferred);
  }

 private:
  const IsSearched& is_searched_;
  DecisionPolicy& searched_;
};

absl::Status NothingToChange() {
  return absl::FailedPreconditionError(
      "no decision of this candidate has another value");
}

}  // namespace

double WeighBySize(const Decision& decision) {
  return std::log2(decision.space.size());
}

TaskSpace::TaskSpace(sketch::Workload workload,
                     std::vector<sketch::Generator> generators, DeviceSpec spec,
                     Features features, SpaceOptions options)
    : workload_(std::move(workload)),
      generators_(std::move(generators)),
      spec_(std::move(spec)),
      features_(std::move(features)),
      options_(std::move(options)) {
  TW_CHECK(options_.first_searched < generators_.size());
}

absl::Status TaskSpace::Refuse(const sketch::Generator& generator,
                               const absl::Status& why) {
  ++refused_;
  const std::string message = absl::StrCat(generator.name, ": ", why.message());
  Refusal& refusal = refusals_[WithoutNumbers(message)];
  if (refusal.count++ == 0) refusal.first = message;
  return absl::Status(why.code(), message);
}

absl::StatusOr<Candidate> TaskSpace::Run(size_t generator,
                                         DecisionPolicy& policy) {
  const sketch::Generator& used = generators_.at(generator);
  ++runs_;
  Decider decider(policy);
  absl::StatusOr<sketch::Schedule> schedule =
      sketch::Generate(used, workload_, spec_, decider);
  if (!schedule.ok()) return Refuse(used, schedule.status());
  absl::StatusOr<costmodel::FeatureMatrix> features =
      features_(workload_, *schedule);
  if (!features.ok()) return Refuse(used, features.status());
  Candidate candidate;
  candidate.generator = generator;
  candidate.table = decider.decisions();
  candidate.trace = TraceOf(*schedule);
  candidate.schedule = *std::move(schedule);
  candidate.features = *std::move(features);
  return candidate;
}

absl::StatusOr<Candidate> TaskSpace::RunWith(size_t generator,
                                             const Answers& answers,
                                             uint64_t seed) {
  PreferredPolicy preferred;
  RandomPolicy random(seed);
  SearchedPolicy any(options_.is_searched, random);
  DecisionPolicy* rest = &any;
  if (options_.use_rules) rest = &preferred;
  TablePolicy policy(answers, *rest);
  absl::StatusOr<Candidate> candidate = Run(generator, policy);
  rounded_ += static_cast<int64_t>(policy.Rounded().size());
  return candidate;
}

absl::StatusOr<Candidate> TaskSpace::Preferred() {
  PreferredPolicy preferred;
  return Run(0, preferred);
}

absl::StatusOr<Candidate> TaskSpace::FromAnswers(const std::string& generator,
                                                 const Answers& answers) {
  for (size_t i = 0; i < generators_.size(); ++i) {
    if (generators_[i].name != generator) continue;
    PreferredPolicy preferred;
    TablePolicy policy(answers, preferred);
    return Run(i, policy);
  }
  return absl::NotFoundError(
      absl::StrCat("no generator of this task is '", generator, "'"));
}

absl::StatusOr<Candidate> TaskSpace::Draw(Random& random) {
  const size_t searched = generators_.size() - options_.first_searched;
  const size_t generator = options_.first_searched + random.Index(searched);
  RandomPolicy any(random.Next());
  SearchedPolicy policy(options_.is_searched, any);
  return Run(generator, policy);
}

bool TaskSpace::IsOpen(const Candidate& parent, const Decision& entry) const {
  return parent.generator >= options_.first_searched &&
         entry.space.size() > 1 &&
         (!options_.is_searched || options_.is_searched(entry.name));
}

absl::StatusOr<Candidate> TaskSpace::Mutate(const Candidate& parent,
                                            Random& random) {
  std::vector<double> weights;
  for (const Decision& entry : parent.table) {
    weights.push_back(
        IsOpen(parent, entry) ? std::max(options_.weigh(entry), 0.0) : 0);
  }
  // An entry may have other values but no neighbours: then another one changes.
  while (const std::optional<size_t> entry = DrawIndex(weights, random)) {
    const Decision& chosen = parent.table[*entry];
    const Answers changed = tilewright::Mutate({chosen}, 1, random);
    Answers answers = AnswersOf(parent.table);
    if (changed.at(chosen.name) == answers.at(chosen.name)) {
      weights[*entry] = 0;
      continue;
    }
    answers[chosen.name] = changed.at(chosen.name);
    return RunWith(parent.generator, answers, random.Next());
  }
  return NothingToChange();
}

absl::StatusOr<Candidate> TaskSpace::Redraw(const Candidate& parent,
                                            Random& random) {
  std::vector<const Decision*> open;
  for (const Decision& entry : parent.table) {
    if (IsOpen(parent, entry)) open.push_back(&entry);
  }
  if (open.empty()) return NothingToChange();
  const Decision& entry = *open[random.Index(open.size())];
  DecisionValue value = entry.value;
  while (value == entry.value) value = entry.space.Draw(random);
  Answers answers = AnswersOf(parent.table);
  answers[entry.name] = entry.space.Print(value);
  return RunWith(parent.generator, answers, random.Next());
}

absl::StatusOr<Candidate> TaskSpace::Cross(const Candidate& a,
                                           const Candidate& b, Random& random) {
  TW_CHECK_EQ(a.generator, b.generator);
  const Answers answers = tilewright::Cross(a.table, b.table, random);
  return RunWith(a.generator, answers, random.Next());
}

std::vector<Candidate> TaskSpace::Collect(
    int count, const Traces& excluded,
    const std::function<absl::StatusOr<Candidate>()>& make) const {
  std::vector<Candidate> found;
  Traces seen;
  int vain = 0;
  while (static_cast<int>(found.size()) < count &&
         vain < options_.most_vain_runs) {
    absl::StatusOr<Candidate> candidate = make();
    if (candidate.ok() && excluded.count(candidate->trace) == 0 &&
        seen.insert(candidate->trace).second) {
      found.push_back(*std::move(candidate));
      vain = 0;
    } else {
      ++vain;
    }
  }
  return found;
}

std::vector<Candidate> TaskSpace::DrawNew(int count, const Traces& excluded,
                                          Random& random) {
  return Collect(count, excluded, [&] { return Draw(random); });
}

std::string TaskSpace::RefusalText() const {
  if (refused_ == 0) return "";
  std::vector<const Refusal*> order;
  for (const auto& [reason, refusal] : refusals_) order.push_back(&refusal);
  std::stable_sort(
      order.begin(), order.end(),
      [](const Refusal* a, const Refusal* b) { return a->count > b->count; });
  std::string text =
      absl::StrCat(refused_, " of ", runs_, " runs were refused");
  for (size_t i = 0; i < order.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ": " : ", ", order[i]->count, " as '",
                    order[i]->first, "'");
  }
  return text;
}

}  // namespace tilewright::search
