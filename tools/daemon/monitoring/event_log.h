// A log of events, a line of JSON each, for programs that collect logs:
//
//   {"time": "2026-11-23T12:00:00.250Z", "level": "warning", "event":
//    "worker_lost", "worker": "gpu7.4411", "lease": "5f2a-17"}
//
// The newest lines are kept for the page.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_EVENT_LOG_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_EVENT_LOG_H_

#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"

namespace tilewright::daemon {

// Thread-safe.
class EventLog {
 public:
  enum class Level { kInfo, kWarning, kError };
  struct Field {
    Field(absl::string_view key, absl::string_view value)
        : key(key), text(value) {}
    Field(absl::string_view key, int64_t value)
        : key(key), number(value), is_number(true) {}
    absl::string_view key, text;
    int64_t number = 0;
    bool is_number = false;
  };

  // Appends to the file; "-" is standard error, "" nothing. NotFound: it cannot
  // be opened. `clock` must outlive it and be thread-safe.
  static absl::StatusOr<std::unique_ptr<EventLog>> Open(const std::string& path,
                                                        Clock& clock);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // One line. A disk that is full loses it, and nothing else.
  void Write(Level level, absl::string_view event,
             std::initializer_list<Field> fields);

  // The newest lines, the newest first, each a JSON object.
  std::vector<std::string> Recent() const;

 private:
  EventLog(std::FILE* file, Clock& clock) : file_(file), clock_(clock) {}

  std::FILE* const file_;  // null: none
  Clock& clock_;
  mutable std::mutex mutex_;
  std::deque<std::string> recent_;
};

// "2026-11-23T12:00:00.250Z"
std::string UtcTime(int64_t unix_ns);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_EVENT_LOG_H_
