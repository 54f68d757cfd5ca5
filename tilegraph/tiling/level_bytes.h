#ifndef TILEWRIGHT_TILEGRAPH_TILING_LEVEL_BYTES_H_
#define TILEWRIGHT_TILEGRAPH_TILING_LEVEL_BYTES_H_

namespace tilewright {

// Bytes that a group moves between a memory level and the next inner one.
struct LevelBytes {
  double read = 0, written = 0;
  // Runs of neighbours that are read, of those shorter than a page: prefetching
  // begins anew with each.
  double short_runs = 0;
  double both() const { return read + written; }
  LevelBytes& operator+=(const LevelBytes& other) {
    read += other.read;
    written += other.written;
    short_runs += other.short_runs;
    return *this;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_LEVEL_BYTES_H_
