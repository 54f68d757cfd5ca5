#include "measure/farm/farm_measurer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright::measure {
namespace {

constexpr int kMostLosses = 2;
// Parts of what waits that each device takes: the slowest one has little left
// when the others have nothing.
constexpr int kPartsOfADevice = 2;

// What a device's thread asks of the caller's.
struct Question {
  int index;
  BuildReport report;
  std::optional<bool> wanted;  // the answer
};

}  // namespace

struct FarmMeasurer::Batch {
  Batch(const WorkloadKey& workload,
        absl::Span<const sketch::ScheduleProto> schedules,
        const MeasureOptions& options)
      : workload(workload), schedules(schedules), options(options) {}

  const WorkloadKey& workload;
  absl::Span<const sketch::ScheduleProto> schedules;
  const MeasureOptions& options;
  bool alone = false;  // on one device, with nothing beside it

  std::deque<int> waiting;           // candidates
  std::vector<int> losses;           // by candidate
  std::vector<Measurement> results;  // by candidate
  std::deque<int> final;             // to be told
  std::deque<Question*> questions;
  absl::Status status;  // of the last device that failed
};

absl::StatusOr<std::unique_ptr<FarmMeasurer>> FarmMeasurer::Start(
    std::vector<FarmDevice> devices) {
  std::unique_ptr<FarmMeasurer> farm(new FarmMeasurer());
  for (FarmDevice& how : devices) {
    farm->devices_.push_back(std::make_unique<Device>());
    farm->devices_.back()->state.name = how.name;
    farm->devices_.back()->how = std::move(how);
  }
  for (const auto& device : farm->devices_) {
    device->thread =
        std::thread([farm = farm.get(), &device] { farm->Serve(*device); });
  }
  std::unique_lock<std::mutex> lock(farm->mutex_);
  farm->changed_.wait(lock, [&] {
    return std::all_of(farm->devices_.begin(), farm->devices_.end(),
                       [](const auto& device) { return device->started; });
  });
  if (farm->Working() > 0) return farm;
  std::string reasons = "no device works";
  for (const auto& device : farm->devices_) {
    absl::StrAppend(&reasons, "; ", device->state.name, ": ",
                    device->state.status.message());
  }
  lock.unlock();
  return absl::UnavailableError(reasons);
}

FarmMeasurer::~FarmMeasurer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (const auto& device : devices_) {
    if (device->thread.joinable()) device->thread.join();
  }
}

std::vector<FarmMeasurer::DeviceState> FarmMeasurer::devices() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<DeviceState> states;
  for (const auto& device : devices_) states.push_back(device->state);
  return states;
}

int FarmMeasurer::Working() const {
  return static_cast<int>(
      std::count_if(devices_.begin(), devices_.end(), [](const auto& device) {
        return device->started && device->state.status.ok();
      }));
}

const FarmMeasurer::Device* FarmMeasurer::FirstWorking() const {
  for (const auto& device : devices_) {
    if (device->started && device->state.status.ok()) return device.get();
  }
  return nullptr;
}

std::vector<int> FarmMeasurer::Take(const Device& device) {
  if (batch_ == nullptr || batch_->waiting.empty()) return {};
  if (batch_->alone && &device != FirstWorking()) return {};
  const int waiting = static_cast<int>(batch_->waiting.size());
  const int working = Working();
  int count = waiting;
  if (working > 1 && !batch_->alone) {
    const int parts = kPartsOfADevice * working;
    count = std::clamp((waiting + parts - 1) / parts, device.how.round,
                       std::max(device.how.round, waiting));
    count = std::min(count, waiting);
  }
  const std::vector<int> part(batch_->waiting.begin(),
                              batch_->waiting.begin() + count);
  batch_->waiting.erase(batch_->waiting.begin(),
                        batch_->waiting.begin() + count);
  return part;
}

void FarmMeasurer::HandleResult(Device& device, int index,
                                const Measurement& measurement) {
  const auto i = static_cast<size_t>(index);
  if (measurement.fault() == Measurement::DEVICE) {
    device.state.status.Update(absl::UnavailableError(measurement.message()));
    if (Working() > 0 && ++batch_->losses[i] < kMostLosses) {
      batch_->waiting.push_back(index);
      changed_.notify_all();
      return;
    }
  }
  ++device.state.measured;
  batch_->results[i] = measurement;
  batch_->final.push_back(index);
  changed_.notify_all();
}

absl::Status FarmMeasurer::MeasurePart(Device& device, Measurer& measurer,
                                       const std::vector<int>& part) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const int index : part) {
    schedules.push_back(batch_->schedules[static_cast<size_t>(index)]);
  }
  std::vector<bool> told(part.size());
  MeasureOptions options;
  options.cancellation = batch_->options.cancellation;
  options.on_result = [&](int i, const Measurement& measurement) {
    const std::lock_guard<std::mutex> lock(mutex_);
    told[static_cast<size_t>(i)] = true;
    HandleResult(device, part[static_cast<size_t>(i)], measurement);
  };
  if (batch_->options.wanted) {
    options.wanted = [&](int i, const BuildReport& report) {
      Question question{part[static_cast<size_t>(i)], report, std::nullopt};
      std::unique_lock<std::mutex> lock(mutex_);
      batch_->questions.push_back(&question);
      changed_.notify_all();
      changed_.wait(lock, [&] { return question.wanted.has_value(); });
      return *question.wanted;
    };
  }
  const absl::Status status =
      (batch_->alone
           ? measurer.MeasureAlone(batch_->workload, schedules, options)
           : measurer.Measure(batch_->workload, schedules, options))
          .status();
  // An error says nothing about the candidates.
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < part.size(); ++i) {
    if (!told[i]) batch_->waiting.push_back(part[i]);
  }
  return status;
}

void FarmMeasurer::Serve(Device& device) {
  absl::StatusOr<std::unique_ptr<Measurer>> measurer = device.how.start();
  std::unique_lock<std::mutex> lock(mutex_);
  device.state.status = measurer.status();
  device.started = true;
  changed_.notify_all();
  while (!stopped_ && device.state.status.ok()) {
    const std::vector<int> part = Take(device);
    if (part.empty()) {
      changed_.wait(lock);
      continue;
    }
    device.busy = true;
    lock.unlock();
    const absl::Status status = MeasurePart(device, **measurer, part);
    lock.lock();
    device.busy = false;
    device.state.status.Update(status);
    if (!status.ok()) batch_->status = status;
    changed_.notify_all();
  }
  lock.unlock();
  if (measurer.ok()) measurer->reset();
}

absl::StatusOr<std::vector<Measurement>> FarmMeasurer::Run(Batch& batch) {
  const size_t size = batch.schedules.size();
  batch.results.resize(size);
  batch.losses.resize(size);
  for (size_t i = 0; i < size; ++i) {
    batch.waiting.push_back(static_cast<int>(i));
  }
  std::unique_lock<std::mutex> lock(mutex_);
  batch_ = &batch;
  changed_.notify_all();
  const auto any_busy = [&] {
    return std::any_of(devices_.begin(), devices_.end(),
                       [](const auto& device) { return device->busy; });
  };
  for (size_t told = 0; told < size || any_busy();) {
    if (!batch.questions.empty()) {
      Question& question = *batch.questions.front();
      batch.questions.pop_front();
      lock.unlock();
      const bool wanted = batch.options.wanted(question.index, question.report);
      lock.lock();
      question.wanted = wanted;
      changed_.notify_all();
    } else if (!batch.final.empty()) {
      const int index = batch.final.front();
      batch.final.pop_front();
      ++told;
      lock.unlock();
      if (batch.options.on_result) {
        batch.options.on_result(index,
                                batch.results[static_cast<size_t>(index)]);
      }
      lock.lock();
    } else if (Working() == 0 && !any_busy()) {
      break;  // nobody measures the rest
    } else {
      changed_.wait(lock);
    }
  }
  batch_ = nullptr;
  if (batch.waiting.empty()) return std::move(batch.results);
  if (!batch.status.ok()) return batch.status;
  return absl::UnavailableError("no device of the farm works any more");
}

absl::StatusOr<std::vector<Measurement>> FarmMeasurer::DoMeasure(
    const MeasureBatch& batch) {
  Batch own(batch.workload, batch.schedules, batch.options);
  own.alone = batch.alone;
  return Run(own);
}

namespace {

class Borrowed : public Measurer {
 public:
  explicit Borrowed(Measurer& measurer) : measurer_(measurer) {}

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) override {
    return measurer_.Measure(batch);
  }

 private:
  Measurer& measurer_;
};

}  // namespace

std::unique_ptr<Measurer> Borrow(Measurer& measurer) {
  return std::make_unique<Borrowed>(measurer);
}

}  // namespace tilewright::measure
