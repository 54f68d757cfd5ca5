#include "bench/cost/timed_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "backends/cpu/device/cpu_device.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "runtime/model.h"

namespace tilewright::bench {
namespace {

// 0x3c3c3c3c is 0.0115 as f32, 0x3c3c 1.06 as fp16.
constexpr char kFloatByte = 0x3c;

bool IsFloat(ElementType type) {
  return type == FLOAT32 || type == FLOAT16 || type == FLOAT64 ||
         type == BFLOAT16;
}

}  // namespace

absl::StatusOr<TimedModel> TimedModel::Create(const CompiledModel& compiled) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::Device> device,
                      cpu::CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(
      const std::shared_ptr<const Model> model,
      Model::FromBytes(compiled.Serialize(),
                       std::shared_ptr<backends::Device>(std::move(device))));
  TimedModel timed;
  TW_ASSIGN_OR_RETURN(timed.session_, Session::Create(model));
  const auto add = [&](const TensorSpec& spec) -> absl::StatusOr<char*> {
    TW_ASSIGN_OR_RETURN(auto buffer, model->device().Allocate(SizeBytes(spec)));
    char* const address = static_cast<char*>(buffer->address());
    std::memset(address, IsFloat(spec.element_type()) ? kFloatByte : 0,
                static_cast<size_t>(SizeBytes(spec)));
    timed.buffers_.push_back(std::move(buffer));
    return address;
  };
  for (const TensorSpec& input : model->program().inputs()) {
    TW_ASSIGN_OR_RETURN(timed.inputs_.emplace_back(), add(input));
  }
  for (const TensorSpec& output : model->program().outputs()) {
    TW_ASSIGN_OR_RETURN(timed.outputs_.emplace_back(), add(output));
  }
  timed.step_us_.assign(model->program().steps_size(),
                        std::numeric_limits<double>::infinity());
  return timed;
}

absl::Status TimedModel::Run() {
  Clock& clock = *RealClock();
  int64_t last_ns = clock.WallNs();
  TW_RETURN_IF_ERROR(session_->RunSteps(inputs_, outputs_, [&](int step) {
    const int64_t now_ns = clock.WallNs();
    if (warm_)
      step_us_[step] = std::min(step_us_[step],
                                static_cast<double>(now_ns - last_ns) * 1e-3);
    last_ns = clock.WallNs();
  }));
  warm_ = true;
  return absl::OkStatus();
}

std::vector<double> TimedModel::GroupTimes(
    const CompiledModel& compiled) const {
  std::map<int, std::vector<double>> of_kernel;  // in the order of launches
  for (int i = 0; i < compiled.program.steps_size(); ++i) {
    const Step& step = compiled.program.steps(i);
    if (step.has_launch())
      of_kernel[step.launch().kernel()].push_back(step_us_[i]);
  }
  std::map<int, size_t> next;
  std::vector<double> times;
  for (const int kernel : compiled.kernel_of_group) {
    const std::vector<double>& own = of_kernel[kernel];
    size_t& launch = next[kernel];
    times.push_back(launch < own.size()
                        ? own[launch++]
                        : std::numeric_limits<double>::infinity());
  }
  return times;
}

absl::Status RunInterleaved(absl::Span<TimedModel> models, double seconds,
                            int least_runs) {
  Clock& clock = *RealClock();
  const int64_t start_ns = clock.WallNs();
  for (int run = 0;
       run <= least_runs ||
       static_cast<double>(clock.WallNs() - start_ns) < seconds * 1e9;
       ++run) {
    for (TimedModel& model : models) TW_RETURN_IF_ERROR(model.Run());
  }
  return absl::OkStatus();
}

}  // namespace tilewright::bench
