// Whether the core that measures is as fast as it can be just now. On a shared
// host others take up to two fifths of a physical core, for a tenth of a second
// or a whole one, and no clock of a guest tells: what is measured meanwhile
// seems slower than what is measured before and after. Nor does it tell that
// two of the guest's own cores are one for a while.
//
//   SteadyCore core = SteadyCore::OfThisThread();
//   do {
//     core.Wait();
//     ... measure ...
//   } while (!core.IsSteady() && ++times < 3);
#ifndef TILEWRIGHT_MEASURE_MACHINE_STEADY_CORE_H_
#define TILEWRIGHT_MEASURE_MACHINE_STEADY_CORE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "base/clock.h"

namespace tilewright::measure {

struct SteadyCoreOptions {
  // A core is steady if a piece of work takes at most so many times the least
  // that it took.
  double tolerance = 1.12;
  // Of so many in a row one has to: an interrupt is no neighbour.
  int looks = 3;
  int64_t pause_ns = 2'000'000;  // of a wait, between two looks
  // A wait ends. The first one always takes so long: it learns what the work
  // takes.
  int64_t most_wait_ns = 200'000'000;
  // All others together take at most this share of the time.
  double most_share = 0.5;
  // A wait in vain raises the least time by this factor: a core that was faster
  // once need not be so again.
  double forgets = 1.005;
};

// Some ten microseconds of reading from the second-level cache. What else runs
// on a physical core takes of its ports and its caches, which loops in
// registers do not feel: a twentieth while products take half as long again.
void ReadSecondLevelCache();

class SteadyCore {
 public:
  // `work`: some ten microseconds that need all of a core. `clock` outlives
  // it.
  SteadyCore(std::function<void()> work, Clock& clock,
             std::function<void(int64_t ns)> sleep,
             const SteadyCoreOptions& options = {});

  // By the real clock.
  static SteadyCore OfThisThread(
      std::function<void()> work = ReadSecondLevelCache);

  // Until the core is steady, or it has waited enough.
  void Wait();
  bool IsSteady();

  // But for the first.
  int64_t waited_ns() const { return waited_ns_; }

 private:
  const std::function<void()> work_;
  Clock& clock_;
  const std::function<void(int64_t)> sleep_;
  const SteadyCoreOptions options_;
  double least_ns_ = std::numeric_limits<double>::infinity();  // CPU time
  std::optional<int64_t> began_ns_;                            // the first wait
  int64_t waited_ns_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MACHINE_STEADY_CORE_H_
