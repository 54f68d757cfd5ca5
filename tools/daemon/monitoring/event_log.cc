#include "tools/daemon/monitoring/event_log.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/page/json.h"

namespace tilewright::daemon {
namespace {

constexpr size_t kRecentLines = 60;
constexpr int64_t kNsOfASecond = 1'000'000'000, kNsOfAMs = 1'000'000;

const char* NameOf(EventLog::Level level) {
  switch (level) {
    case EventLog::Level::kInfo:
      return "info";
    case EventLog::Level::kWarning:
      return "warning";
    case EventLog::Level::kError:
      return "error";
  }
  return "";
}

}  // namespace

std::string UtcTime(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / kNsOfASecond;
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  return absl::StrFormat("%s.%03dZ", text, unix_ns % kNsOfASecond / kNsOfAMs);
}

absl::StatusOr<std::unique_ptr<EventLog>> EventLog::Open(
    const std::string& path, Clock& clock) {
  std::FILE* file = nullptr;
  if (path == "-") {
    file = stderr;
  } else if (!path.empty()) {
    file = std::fopen(path.c_str(), "ae");
    if (file == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("log ", path, ": cannot be opened: ", strerror(errno)));
    }
  }
  return std::unique_ptr<EventLog>(new EventLog(file, clock));
}

EventLog::~EventLog() {
  if (file_ != nullptr && file_ != stderr) std::fclose(file_);
}

void EventLog::Write(Level level, absl::string_view event,
                     std::initializer_list<Field> fields) {
  tools::Json json;
  json.Open('{').Key("time").Text(UtcTime(clock_.UnixNs()));
  json.Key("level").Text(NameOf(level)).Key("event").Text(event);
  for (const Field& field : fields) {
    json.Key(field.key);
    field.is_number ? json.Int(field.number) : json.Text(field.text);
  }
  json.Close('}');
  const std::lock_guard<std::mutex> lock(mutex_);
  recent_.push_front(json.text());
  if (recent_.size() > kRecentLines) recent_.pop_back();
  if (file_ == nullptr) return;
  std::fprintf(file_, "%s\n", json.text().c_str());
  std::fflush(file_);
}

std::vector<std::string> EventLog::Recent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {recent_.begin(), recent_.end()};
}

}  // namespace tilewright::daemon
