#include "base/allocation.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

constexpr int64_t kSmallBytes = int64_t{64} << 20;
constexpr const char* kAdvice =
    "; make the model smaller or give the process more memory";

// The number after `key` in a file of lines "KEY:   NUMBER kB"; -1 if there is
// none.
int64_t KilobytesIn(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (word != key) continue;
    int64_t value = -1;
    if (file >> value) return value;
    return -1;
  }
  return -1;
}

// The bytes that this process may still allocate; INT64_MAX if nothing says.
int64_t BytesLeft() {
  int64_t left = INT64_MAX;
  const int64_t available = KilobytesIn("/proc/meminfo", "MemAvailable:");
  if (available >= 0) left = available << 10;
  // "max" where the control group has no limit.
  std::ifstream group("/sys/fs/cgroup/memory.max");
  if (int64_t limit; group >> limit) left = std::min(left, limit);
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const int64_t used = KilobytesIn("/proc/self/status", "VmSize:");
    const int64_t allowed = static_cast<int64_t>(
        std::min(limit.rlim_cur, static_cast<rlim_t>(INT64_MAX)));
    if (used >= 0) left = std::min(left, allowed - (used << 10));
  }
  return std::max<int64_t>(left, 0);
}

}  // namespace

std::string BytesText(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < 6) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return absl::StrCat(bytes, " bytes (", text, ")");
}

absl::Status CannotAllocate(int64_t bytes, std::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot allocate ", BytesText(bytes), " for ", ToAbsl(what), kAdvice));
}

bool HasMemory(int64_t bytes) {
  return bytes <= kSmallBytes || bytes <= BytesLeft();
}

absl::Status CheckMemory(int64_t bytes, std::string_view what) {
  return HasMemory(bytes) ? absl::OkStatus() : CannotAllocate(bytes, what);
}

absl::Status StatusOfException(std::string_view doing) {
  try {
    throw;
  } catch (const AllocationError& error) {
    return absl::ResourceExhaustedError(error.what());
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory while ", ToAbsl(doing), kAdvice));
  } catch (const std::length_error&) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "something is too large for memory while ", ToAbsl(doing), kAdvice));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(
        error.what(), " while ", ToAbsl(doing), "; please report this"));
  } catch (...) {
    return absl::InternalError(absl::StrCat(
        "an unknown failure while ", ToAbsl(doing), "; please report this"));
  }
}

}  // namespace tilewright
