#include "measure/record/full_disk_vfs.h"

#include <sqlite3.h>

#include "base/check.h"

namespace tilewright::measure {
namespace {

// An open file: ours, and right behind it the default file system's.
struct File {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real();
}

sqlite3_vfs* DefaultVfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

int Close(sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); }
int Read(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return Real(f)->pMethods->xRead(Real(f), to, size, at);
}
int Write(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  FullDiskVfs& disk = FullDiskVfs::Get();
  if (size > disk.room_bytes) {
    ++disk.refused_writes;
    return SQLITE_FULL;
  }
  if (disk.room_bytes != FullDiskVfs::kUnlimited) disk.room_bytes -= size;
  return Real(f)->pMethods->xWrite(Real(f), from, size, at);
}
int Truncate(sqlite3_file* f, sqlite3_int64 size) {
  return Real(f)->pMethods->xTruncate(Real(f), size);
}
int Sync(sqlite3_file* f, int flags) {
  return Real(f)->pMethods->xSync(Real(f), flags);
}
int FileSize(sqlite3_file* f, sqlite3_int64* size) {
  return Real(f)->pMethods->xFileSize(Real(f), size);
}
int Lock(sqlite3_file* f, int kind) {
  return Real(f)->pMethods->xLock(Real(f), kind);
}
int Unlock(sqlite3_file* f, int kind) {
  return Real(f)->pMethods->xUnlock(Real(f), kind);
}
int CheckReservedLock(sqlite3_file* f, int* result) {
  return Real(f)->pMethods->xCheckReservedLock(Real(f), result);
}
int FileControl(sqlite3_file* f, int operation, void* argument) {
  return Real(f)->pMethods->xFileControl(Real(f), operation, argument);
}
int SectorSize(sqlite3_file* f) {
  return Real(f)->pMethods->xSectorSize(Real(f));
}
int DeviceCharacteristics(sqlite3_file* f) {
  return Real(f)->pMethods->xDeviceCharacteristics(Real(f));
}
int ShmMap(sqlite3_file* f, int page, int size, int extend,
           void volatile** address) {
  return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, address);
}
int ShmLock(sqlite3_file* f, int offset, int n, int flags) {
  return Real(f)->pMethods->xShmLock(Real(f), offset, n, flags);
}
void ShmBarrier(sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); }
int ShmUnmap(sqlite3_file* f, int remove) {
  return Real(f)->pMethods->xShmUnmap(Real(f), remove);
}

// Version 2: shared memory, which WAL needs; no memory-mapped reads.
constexpr sqlite3_io_methods kMethods = {2,
                                         Close,
                                         Read,
                                         Write,
                                         Truncate,
                                         Sync,
                                         FileSize,
                                         Lock,
                                         Unlock,
                                         CheckReservedLock,
                                         FileControl,
                                         SectorSize,
                                         DeviceCharacteristics,
                                         ShmMap,
                                         ShmLock,
                                         ShmBarrier,
                                         ShmUnmap,
                                         nullptr,
                                         nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags,
         int* flags_out) {
  file->pMethods = nullptr;
  const int result =
      DefaultVfs()->xOpen(DefaultVfs(), name, Real(file), flags, flags_out);
  if (result == SQLITE_OK) file->pMethods = &kMethods;
  return result;
}

}  // namespace

FullDiskVfs& FullDiskVfs::Get() {
  static FullDiskVfs disk;
  static sqlite3_vfs vfs = [] {
    TW_CHECK(DefaultVfs() != nullptr);
    sqlite3_vfs copy = *DefaultVfs();
    copy.zName = "tilewright_full_disk";
    copy.szOsFile = static_cast<int>(sizeof(File)) + DefaultVfs()->szOsFile;
    copy.xOpen = Open;
    copy.pNext = nullptr;
    return copy;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  TW_CHECK_EQ(registered, SQLITE_OK);
  return disk;
}

}  // namespace tilewright::measure
