// A file system for SQLite whose disk is full whenever a test says so.
#ifndef TILEWRIGHT_MEASURE_RECORD_FULL_DISK_VFS_H_
#define TILEWRIGHT_MEASURE_RECORD_FULL_DISK_VFS_H_

#include <cstdint>
#include <limits>
#include <string>

namespace tilewright::measure {

// SQLite's default file system, but for SQLITE_FULL once `room_bytes` more have
// been written; a write that does not fit as a whole is not done in part. One
// for the whole process. Not thread-safe.
class FullDiskVfs {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  // Registers it with SQLite on the first call.
  static FullDiskVfs& Get();
  std::string name() const { return "tilewright_full_disk"; }

  int64_t room_bytes = kUnlimited;
  int64_t refused_writes = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_FULL_DISK_VFS_H_
