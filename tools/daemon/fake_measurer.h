// A measurer for tests of the daemon: it takes its time, and makes up results.
#ifndef TILEWRIGHT_TOOLS_DAEMON_FAKE_MEASURER_H_
#define TILEWRIGHT_TOOLS_DAEMON_FAKE_MEASURER_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::daemon {

// Schedule i; its latency is i ns.
sketch::ScheduleProto FakeCandidate(int i);
std::vector<sketch::ScheduleProto> FakeCandidates(int first, int count);
measure::WorkloadKey FakeKey(const std::string& text);
// Device and versions of records.
measure::Record FakeMade();

class FakeMeasurer : public measure::Measurer {
 public:
  // Called before each candidate, with its number; may change the result.
  std::function<void(int candidate, measure::Measurement& result)> before;
  // Candidates that were measured, of all calls.
  std::atomic<int> measured{0};

 protected:
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_FAKE_MEASURER_H_
