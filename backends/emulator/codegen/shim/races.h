// Watches what threads of a block do to memory that they share. The compiler
// calls the functions of its race sanitizer before every access; these are
// ours. Behind threads.h, and before what is watched.

// The last accesses of an element.
struct tw_cell {
  int written_in, read_in;  // epochs; 0: never
  int block;                // that wrote
  int writer, reader;
  int other_reader;  // in the same epoch, from 1; 0: none
  int write_line, read_line;
  int line;  // of the access that comes next
};
struct tw_range {
  char* base;
  long long elements, element_bytes;
  bool is_scratch;
  tw_cell* cells;
};
static __thread tw_range tw_ranges[64];
static __thread int tw_num_ranges;

// Once a launch for each buffer.
TW_QUIET static tw_cell* tw_watch(void* base, long long elements,
                                  long long element_bytes, bool is_scratch) {
  for (int i = 0; i < tw_num_ranges; ++i) {
    if (tw_ranges[i].base == base) return tw_ranges[i].cells;
  }
  if (tw_num_ranges == 64) __builtin_trap();
  const unsigned long bytes = (elements + 1) * sizeof(tw_cell);
  auto* const cells = (tw_cell*)mmap(0, bytes, 3, 0x4022, -1, 0);
  if (cells == (tw_cell*)-1) __builtin_trap();
  tw_ranges[tw_num_ranges++] = {(char*)base, elements, element_bytes,
                                is_scratch, cells};
  return cells;
}
TW_QUIET static void tw_forget() {
  for (int i = 0; i < tw_num_ranges; ++i)
    munmap(tw_ranges[i].cells,
           (tw_ranges[i].elements + 1) * sizeof(tw_cell));
  tw_num_ranges = 0;
}

TW_QUIET static void tw_report_race(const tw_range& range, long long element,
                                    bool writes, int other, bool wrote,
                                    int block) {
  const tw_cell& cell = range.cells[element];
  tw_reported = {tw_race, cell.line, blockIdx.x, threadIdx.x, element,
                 range.elements};
  tw_reported.writes = writes;
  tw_reported.wrote = wrote;
  tw_reported.other_thread = other;
  tw_reported.other_block = block;
  tw_reported.other_line = wrote ? cell.write_line : cell.read_line;
  tw_wait(tw_ended, 0);
}
TW_QUIET static void tw_access(const tw_range& range, long long element,
                               bool writes) {
  tw_cell& c = range.cells[element];
  const int me = (int)threadIdx.x, epoch = tw_block.epoch;
  const bool mine = c.written_in >= tw_block.block_epoch;
  if (!range.is_scratch && c.written_in != 0 && !mine)
    tw_report_race(range, element, writes, c.writer, true, c.block);
  if (range.is_scratch && !writes && !mine)
    tw_report(tw_unwritten, c.line, element, range.elements);
  if (c.written_in == epoch && c.writer != me)
    tw_report_race(range, element, writes, c.writer, true, c.block);
  if (!writes) {
    if (c.read_in != epoch) {
      c.read_in = epoch;
      c.reader = me;
      c.other_reader = 0;
      c.read_line = c.line;
    } else if (c.reader != me) {
      c.other_reader = me + 1;
    }
    return;
  }
  if (c.read_in == epoch && c.reader != me)
    tw_report_race(range, element, writes, c.reader, false, blockIdx.x);
  if (c.read_in == epoch && c.other_reader != 0)
    tw_report_race(range, element, writes, c.other_reader - 1, false,
                   blockIdx.x);
  c.written_in = epoch;
  c.writer = me;
  c.block = (int)blockIdx.x;
  c.write_line = c.line;
}

#define TW_HOOK \
  extern "C" __attribute__((visibility("hidden"), used)) TW_QUIET void
TW_QUIET static void tw_touch(void* at, long long bytes, bool writes) {
  for (int i = 0; i < tw_num_ranges; ++i) {
    const tw_range& range = tw_ranges[i];
    const long long first = (char*)at - range.base;
    if (first < 0 || first >= range.elements * range.element_bytes) continue;
    const long long last = (first + bytes - 1) / range.element_bytes;
    for (long long e = first / range.element_bytes; e <= last; ++e)
      tw_access(range, e, writes);
    return;
  }
}
TW_HOOK __tsan_init() {}
TW_HOOK __tsan_func_entry(void*) {}
TW_HOOK __tsan_func_exit() {}
#define TW_SIZE(name, bytes)                                              \
  TW_HOOK __tsan_##name##read##bytes(void* p) { tw_touch(p, bytes, false); } \
  TW_HOOK __tsan_##name##write##bytes(void* p) { tw_touch(p, bytes, true); }
TW_SIZE(, 1)
TW_SIZE(, 2)
TW_SIZE(, 4)
TW_SIZE(, 8)
TW_SIZE(, 16)
TW_SIZE(unaligned_, 2)
TW_SIZE(unaligned_, 4)
TW_SIZE(unaligned_, 8)
TW_SIZE(unaligned_, 16)
#undef TW_SIZE
TW_HOOK __tsan_read_range(void* p, unsigned long bytes) {
  tw_touch(p, (long long)bytes, false);
}
TW_HOOK __tsan_write_range(void* p, unsigned long bytes) {
  tw_touch(p, (long long)bytes, true);
}
