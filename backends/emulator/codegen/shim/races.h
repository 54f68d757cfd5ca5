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
  int copier, copy_line;  // who copies to it, from 1; 0: nobody
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
TW_QUIET static int tw_range_of(const tw_cell* cells) {
  int i = 0;
  while (tw_ranges[i].cells != cells) ++i;
  return i;
}
TW_QUIET static void tw_forget() {
  for (int i = 0; i < tw_num_ranges; ++i)
    munmap(tw_ranges[i].cells,
           (tw_ranges[i].elements + 1) * sizeof(tw_cell));
  tw_num_ranges = 0;
}

TW_QUIET static void tw_report_race(const tw_range& range, long long element,
                                    bool writes, int other, bool wrote,
                                    int block, int kind = tw_race) {
  const tw_cell& cell = range.cells[element];
  tw_reported = {kind,        cell.line, blockIdx.x,
                 threadIdx.x, element,   range.elements};
  tw_reported.writes = writes;
  tw_reported.wrote = wrote;
  tw_reported.other_thread = other;
  tw_reported.other_block = block;
  tw_reported.other_line = kind == tw_lost_wait ? cell.copy_line
                           : wrote              ? cell.write_line
                                                : cell.read_line;
  tw_wait(tw_ended, 0);
}
TW_QUIET static void tw_access(const tw_range& range, long long element,
                               bool writes) {
  tw_cell& c = range.cells[element];
  const int me = (int)threadIdx.x, epoch = tw_block.epoch;
  const bool mine = c.written_in >= tw_block.block_epoch;
  if (c.copier != 0) {
    tw_report_race(range, element, writes, c.copier - 1, true, blockIdx.x,
                   tw_lost_wait);
  }
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

// Asynchronous copies: they land where their thread waits for them, as late as
// they may.
extern "C" void* realloc(void*, unsigned long);
extern "C" void free(void*);
#define TW_ASYNC

struct tw_flight {
  int range, line, group;  // of tw_ranges; which of the thread's commits
  long long first, elements;
  const char* from;  // null: zeros
};
struct tw_flights {
  int first, count, room;  // those before `first` have landed
  int commits;
  tw_flight* flights;
};
TW_QUIET static tw_flights& tw_my_flights() {
  tw_flights*& mine = tw_block.fibers[threadIdx.x].flights;
  if (mine == 0) {
    mine = (tw_flights*)realloc(0, sizeof(tw_flights));
    *mine = {};
  }
  return *mine;
}
TW_QUIET static void tw_depart(const tw_flight& flight) {
  const tw_range& range = tw_ranges[flight.range];
  for (long long e = flight.first; e < flight.first + flight.elements; ++e) {
    range.cells[e].line = flight.line;
    tw_access(range, e, true);
    range.cells[e].copier = (int)threadIdx.x + 1;
    range.cells[e].copy_line = flight.line;
  }
  tw_flights& mine = tw_my_flights();
  if (mine.count == mine.room) {
    mine.room = mine.room * 2 + 16;
    mine.flights =
        (tw_flight*)realloc(mine.flights, mine.room * sizeof(tw_flight));
  }
  mine.flights[mine.count++] = flight;
}
TW_QUIET static void tw_land(const tw_flight& flight) {
  const tw_range& range = tw_ranges[flight.range];
  const long long size = range.element_bytes;
  for (long long e = 0; e < flight.elements; ++e) {
    tw_cell& cell = range.cells[flight.first + e];
    cell.copier = 0;
    cell.line = flight.line;
    tw_access(range, flight.first + e, true);
    char* const to = range.base + (flight.first + e) * size;
    for (int b = 0; b < size; ++b)
      to[b] = flight.from != 0 ? flight.from[e * size + b] : 0;
  }
}
TW_QUIET static void tw_commit_copies() { ++tw_my_flights().commits; }
template <int pending>
TW_QUIET void tw_wait_copies() {
  tw_flights& mine = tw_my_flights();
  while (mine.first < mine.count &&
         mine.flights[mine.first].group < mine.commits - pending)
    tw_land(mine.flights[mine.first++]);
  if (mine.first == mine.count) mine.first = mine.count = 0;
}
// What nobody has waited for: a block has ended, or the launch.
TW_QUIET static void tw_drop_flights() {
  for (int t = 0; t < tw_block.threads; ++t) {
    tw_flights*& flights = tw_block.fibers[t].flights;
    if (flights == 0) continue;
    for (int i = flights->first; i < flights->count; ++i) {
      const tw_flight& flight = flights->flights[i];
      for (long long e = 0; e < flight.elements; ++e)
        tw_ranges[flight.range].cells[flight.first + e].copier = 0;
    }
    free(flights->flights);
    free(flights);
    flights = 0;
  }
}
