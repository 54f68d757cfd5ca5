#include "backends/cpu/device/task_log.h"

#include "backends/cpu/device/clock_ns.h"

namespace tilewright::cpu {

LoggedPiece::LoggedPiece(TaskLog* log, int worker, int64_t task_begin,
                         int64_t task_end)
    : log_(log != nullptr && log->enabled() ? log : nullptr) {
  if (log_ == nullptr) return;
  record_ = {worker, task_begin, task_end};
  record_.cpu_ns = -ClockNs(CLOCK_THREAD_CPUTIME_ID);
  record_.start_ns = ClockNs(CLOCK_MONOTONIC);
}

LoggedPiece::~LoggedPiece() {
  if (log_ == nullptr) return;
  record_.end_ns = ClockNs(CLOCK_MONOTONIC);
  record_.cpu_ns += ClockNs(CLOCK_THREAD_CPUTIME_ID);
  log_->Add(record_);
}

}  // namespace tilewright::cpu
