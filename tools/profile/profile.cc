#include "tools/profile/profile.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"
#include "tools/profile/kernel_summary.h"
#include "tools/profile/short_names.h"

namespace tilewright::tools {
namespace {

// The limits are sampled before, between and after so many spells of runs.
constexpr int kSpells = 3;
// Runs whose launches are kept for the trace.
constexpr int kTracedRuns = 3;

KernelProfile Describe(const KernelInfo& info) {
  KernelProfile kernel;
  kernel.name = info.name();
  kernel.label = info.label();
  kernel.operators = Operators(info);
  kernel.shape_and_schedule = ShapeAndSchedule(info);
  kernel.schedule = info.schedule();
  kernel.tasks = info.num_tasks();
  kernel.code_bytes = info.code_bytes();
  kernel.spills = info.spills();
  kernel.scratch_bytes = info.scratch_bytes();
  return kernel;
}

KernelProfile Copies() {
  KernelProfile copies;
  copies.name = "copy";
  return copies;
}

// Names that tell the rows apart.
void AddShortNames(Profile& profile) {
  std::vector<std::string> last;
  for (const KernelProfile& kernel : profile.kernels)
    last.push_back(kernel.label.substr(kernel.label.rfind(' ') + 1));
  const std::vector<std::string> names = ShortNames(last);
  for (size_t i = 0; i < names.size(); ++i)
    profile.kernels[i].short_name = names[i];
}

// Which row each step counts for: a zero fill for the launch that it prepares.
// Adds the rows.
std::vector<int> RowsOfSteps(const Program& program, Profile& profile) {
  std::map<int, int> row_of_kernel;  // -1: copies
  std::vector<int> rows(program.steps_size());
  for (int i = program.steps_size() - 1; i >= 0; --i)
    rows[i] = program.steps(i).has_launch() ? program.steps(i).launch().kernel()
              : program.steps(i).has_zero() && i + 1 < program.steps_size()
                  ? rows[i + 1]
                  : -1;
  for (int i = 0; i < program.steps_size(); ++i) {
    const auto [known, added] = row_of_kernel.insert(
        {rows[i], static_cast<int>(profile.kernels.size())});
    if (added) {
      profile.kernels.push_back(
          rows[i] >= 0 ? Describe(program.kernels(rows[i])) : Copies());
    }
    rows[i] = known->second;
    if (program.steps(i).has_zero()) continue;
    KernelProfile& kernel = profile.kernels[rows[i]];
    kernel.work = kernel.work + WorkOfStep(program, i);
    if (rows[i] >= 0 && program.steps(i).has_launch())
      kernel.predicted_us +=
          program.kernels(program.steps(i).launch().kernel()).predicted_ns() *
          1e-3;
    ++kernel.launches;
  }
  AddShortNames(profile);
  return rows;
}

// From the limits, which must be known.
void AddBounds(const Program& program, const std::vector<int>& rows,
               Profile& profile) {
  const double resident_bytes = ResidentBytes(program);
  profile.target = program.target();
  profile.producer = program.producer();
  profile.work = WorkOfModel(program);
  profile.bound = BoundOf(profile.work, resident_bytes, profile.limits);
  for (int i = 0; i < program.steps_size(); ++i) {
    if (program.steps(i).has_zero()) continue;
    KernelProfile& kernel = profile.kernels[rows[i]];
    const Bound bound =
        BoundOf(WorkOfStep(program, i), resident_bytes, profile.limits);
    // All launches of a kernel are bound by the same.
    kernel.bound = {kernel.bound.us + bound.us, bound.by};
    profile.kernels_bound_us += bound.us;
  }
}

// Samples by row and run.
struct Samples {
  explicit Samples(size_t rows) : wall_us(rows), cpu_us(rows) {}
  std::vector<std::vector<double>> wall_us, cpu_us;
  std::vector<double> run_us;
};

// The time that the traced runs spent in launches, by row and in all.
struct Busy {
  explicit Busy(size_t rows) : tasks_ns(rows), launches_ns(rows) {}
  std::vector<double> tasks_ns, launches_ns;
};

class Profiler {
 public:
  Profiler(Session& session, absl::Span<const void* const> inputs,
           absl::Span<void* const> outputs, cpu::TaskLog& log, Profile& profile)
      : session_(session),
        inputs_(inputs),
        outputs_(outputs),
        log_(log),
        profile_(profile),
        rows_(RowsOfSteps(session.model().program(), profile)),
        samples_(profile.kernels.size()),
        busy_(profile.kernels.size()) {}

  // At least one run of each kind; `seconds` of both together. The run before
  // them brings the caches back.
  absl::Status RunFor(double seconds) {
    TW_RETURN_IF_ERROR(session_.Run(inputs_, outputs_));
    const int64_t start_ns = clock_.WallNs();
    do {
      TW_RETURN_IF_ERROR(RunPlain());
      log_.set_enabled(true);
      const absl::Status traced = RunTraced();
      log_.set_enabled(false);
      TW_RETURN_IF_ERROR(traced);
    } while (static_cast<double>(clock_.WallNs() - start_ns) < seconds * 1e9);
    return absl::OkStatus();
  }

  void Summarize(const Limits& limits) {
    profile_.limits = limits;
    AddBounds(session_.model().program(), rows_, profile_);
    double tasks_ns = 0, launches_ns = 0;
    for (size_t row = 0; row < profile_.kernels.size(); ++row) {
      KernelProfile& kernel = profile_.kernels[row];
      kernel.wall_us = SpreadOf(samples_.wall_us[row]);
      kernel.cpu_us = SpreadOf(samples_.cpu_us[row]);
      kernel.busy_percent =
          Percent(busy_.tasks_ns[row], busy_.launches_ns[row]);
      tasks_ns += busy_.tasks_ns[row];
      launches_ns += busy_.launches_ns[row];
    }
    profile_.busy_percent = Percent(tasks_ns, launches_ns);
    profile_.wall_us = SpreadOf(samples_.run_us);
    profile_.runs = static_cast<int>(samples_.run_us.size());
  }

 private:
  double Percent(double tasks_ns, double launches_ns) const {
    return launches_ns > 0 ? 100 * tasks_ns / launches_ns / profile_.threads
                           : 0;
  }

  absl::Status RunPlain() {
    std::vector<double> wall_us(profile_.kernels.size());
    const int64_t start_ns = clock_.WallNs();
    int64_t last_ns = start_ns;
    TW_RETURN_IF_ERROR(session_.RunSteps(inputs_, outputs_, [&](int step) {
      const int64_t now_ns = clock_.WallNs();
      wall_us[rows_[step]] += static_cast<double>(now_ns - last_ns) * 1e-3;
      last_ns = now_ns;
    }));
    samples_.run_us.push_back(static_cast<double>(last_ns - start_ns) * 1e-3);
    for (size_t row = 0; row < wall_us.size(); ++row)
      samples_.wall_us[row].push_back(wall_us[row]);
    return absl::OkStatus();
  }

  absl::Status RunTraced() {
    std::vector<double> cpu_us(profile_.kernels.size());
    log_.Take();
    int64_t last_ns = clock_.WallNs();
    TW_RETURN_IF_ERROR(session_.RunSteps(inputs_, outputs_, [&](int step) {
      TracedLaunch launch;
      launch.step = step;
      launch.kernel = rows_[step];
      launch.start_ns = last_ns;
      launch.end_ns = clock_.WallNs();
      launch.pieces = log_.Take();
      double tasks_ns = 0, cpu_ns = 0;
      for (const cpu::TaskRecord& piece : launch.pieces) {
        tasks_ns += static_cast<double>(piece.end_ns - piece.start_ns);
        cpu_ns += static_cast<double>(piece.cpu_ns);
      }
      const double wall_ns =
          static_cast<double>(launch.end_ns - launch.start_ns);
      // Copies and zero fills are the launching thread's own.
      if (launch.pieces.empty()) tasks_ns = cpu_ns = wall_ns;
      cpu_us[launch.kernel] += cpu_ns * 1e-3;
      busy_.tasks_ns[launch.kernel] += tasks_ns;
      busy_.launches_ns[launch.kernel] += wall_ns;
      if (traced_runs_ < kTracedRuns)
        profile_.trace.push_back(std::move(launch));
      last_ns = clock_.WallNs();
    }));
    ++traced_runs_;
    for (size_t row = 0; row < cpu_us.size(); ++row)
      samples_.cpu_us[row].push_back(cpu_us[row]);
    return absl::OkStatus();
  }

  Session& session_;
  const absl::Span<const void* const> inputs_;
  const absl::Span<void* const> outputs_;
  cpu::TaskLog& log_;
  Profile& profile_;
  const std::vector<int> rows_;  // by step
  Samples samples_;
  Busy busy_;
  int traced_runs_ = 0;
  Clock& clock_ = *RealClock();
};

}  // namespace

Spread SpreadOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

double QuotedUs(const Profile& profile, const KernelProfile& kernel) {
  return profile.threads == 1 && profile.runs > 0 && !profile.by_device
             ? std::min(kernel.cpu_us.min, kernel.wall_us.min)
             : kernel.wall_us.min;
}

double RooflinePercent(const Profile& profile, const KernelProfile& kernel) {
  const double us = QuotedUs(profile, kernel);
  return us > 0 ? 100 * kernel.bound.us / us : 0;
}

Profile DescribeBounds(const Program& program, const Limits& limits,
                       int threads) {
  Profile profile;
  profile.threads = threads;
  profile.limits = limits;
  const std::vector<int> rows = RowsOfSteps(program, profile);
  AddBounds(program, rows, profile);
  return profile;
}

absl::StatusOr<Profile> MeasureProfile(Session& session,
                                       absl::Span<const void* const> inputs,
                                       absl::Span<void* const> outputs,
                                       cpu::TaskLog& log, LimitSampler& sampler,
                                       double seconds) {
  Profile profile;
  profile.threads = session.model().device().num_threads();
  Profiler profiler(session, inputs, outputs, log, profile);
  sampler.Sample();
  for (int spell = 0; spell < kSpells; ++spell) {
    TW_RETURN_IF_ERROR(profiler.RunFor(seconds / kSpells));
    sampler.Sample();
  }
  profiler.Summarize(sampler.limits());
  return profile;
}

absl::StatusOr<Profile> MeasureDeviceProfile(
    Session& session, absl::Span<const void* const> inputs,
    absl::Span<void* const> outputs, const Limits& limits, double seconds) {
  const Program& program = session.model().program();
  Profile profile;
  profile.by_device = true;
  profile.limits = limits;
  const std::vector<int> rows = RowsOfSteps(program, profile);
  Samples samples(profile.kernels.size());
  TW_RETURN_IF_ERROR(session.Run(inputs, outputs));
  const int64_t start_ns = RealClock()->WallNs();
  do {
    TW_ASSIGN_OR_RETURN(const int64_t run_ns, session.TimeRun(inputs, outputs));
    samples.run_us.push_back(static_cast<double>(run_ns) * 1e-3);
    std::vector<double> us(profile.kernels.size());
    TW_RETURN_IF_ERROR(
        session.TimeSteps(inputs, outputs, [&](int step, int64_t ns) {
          us[rows[step]] += static_cast<double>(ns) * 1e-3;
        }));
    for (size_t row = 0; row < us.size(); ++row)
      samples.wall_us[row].push_back(us[row]);
  } while (static_cast<double>(RealClock()->WallNs() - start_ns) <
           seconds * 1e9);
  AddBounds(program, rows, profile);
  for (size_t row = 0; row < profile.kernels.size(); ++row)
    profile.kernels[row].wall_us = SpreadOf(samples.wall_us[row]);
  profile.wall_us = SpreadOf(samples.run_us);
  profile.runs = static_cast<int>(samples.run_us.size());
  return profile;
}

}  // namespace tilewright::tools
