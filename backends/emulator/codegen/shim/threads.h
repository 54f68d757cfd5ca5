// Threads of a block: a fiber each, on a stack of its own. One that waits
// switches to the scheduler, which lets them go on when all are there. Behind
// before.h.
extern "C" void* mmap(void*, unsigned long, int, int, int, long);
extern "C" int mprotect(void*, unsigned long, int);
extern "C" int munmap(void*, unsigned long);

#define TW_QUIET __attribute__((no_sanitize("thread")))

// Keeps this stack in *from and goes on with the other. What a call may change
// needs no keeping.
extern "C" __attribute__((visibility("hidden"))) void tw_switch(void** from,
                                                                void* to);
#ifndef __x86_64__
#error "the emulator switches stacks of x86-64"
#endif
asm(R"(
.text
.type tw_switch, @function
tw_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tw_switch, .-tw_switch
)");

enum tw_state { tw_ready, tw_at_barrier, tw_at_exchange, tw_ended };
struct tw_fiber {
  void* stack;
  tw_state state;
  int line;       // where it waits
  unsigned word;  // what it gives, then what it got
  int from;       // of which thread it wants one
  struct tw_flights* flights;  // of races.h
  unsigned long long iteration;  // of the loops it is in, where that counts
};
static __thread struct {
  tw_fiber* fibers;  // null: a kernel without threads
  int threads, warp;
  void* scheduler;  // its stack
  void (*body)(void*);
  void* context;
  char* memory;  // of fibers and stacks
  unsigned long memory_bytes;
  int epoch;        // between barriers; of no two blocks
  int block_epoch;  // the block's first
} tw_block;

TW_QUIET static void tw_wait(tw_state state, int line) {
  tw_fiber& fiber = tw_block.fibers[threadIdx.x];
  fiber.state = state;
  fiber.line = line;
  tw_switch(&fiber.stack, tw_block.scheduler);
}
// Ends the launch: at once in a kernel with threads, else behind the task.
TW_QUIET static void tw_report(int kind, int line, long long index,
                               long long elements) {
  if (tw_reported.kind == 0)
    tw_reported = {kind, line, blockIdx.x,
                   tw_block.fibers != 0 ? (long long)threadIdx.x : -1, index,
                   elements};
  if (tw_block.fibers != 0) tw_wait(tw_ended, line);
}

// A lane, and in checked modules the line of the text that names it.
struct tw_lane_at {
  long long value;
  int line;
  tw_lane_at(long long value) : value(value), line(0) {}
#ifdef TW_CHECKED
  tw_lane_at(tw_at at) : value(at.value), line(at.line) {}
#endif
};
TW_QUIET static void tw_barrier(int line = __builtin_LINE()) {
  tw_wait(tw_at_barrier, line);
}
TW_QUIET static unsigned tw_word_from(unsigned word, int thread, int line) {
  tw_fiber& fiber = tw_block.fibers[threadIdx.x];
  fiber.word = word;
  fiber.from = thread;
  tw_wait(tw_at_exchange, line);
  return fiber.word;
}
TW_QUIET static unsigned tw_word_xor(unsigned word, tw_lane_at mask) {
  return tw_word_from(word, (int)(threadIdx.x ^ mask.value), mask.line);
}
template <int warp>
TW_QUIET unsigned tw_word_of(unsigned word, tw_lane_at lane) {
  const int first = threadIdx.x & ~(warp - 1);
  return tw_word_from(word, first | (int)(lane.value & (warp - 1)), lane.line);
}

TW_QUIET static void tw_fiber_main() {
  tw_block.body(tw_block.context);
  tw_wait(tw_ended, 0);
}
// Memory for that many fibers; below each stack a page that nobody may touch.
TW_QUIET static void tw_make_fibers(int threads, int warp, long stack_bytes) {
  constexpr long kPage = 4096;
  if (tw_block.memory != 0) munmap(tw_block.memory, tw_block.memory_bytes);
  const long fibers_bytes =
      (threads * (long)sizeof(tw_fiber) + kPage - 1) / kPage * kPage;
  const long each = (stack_bytes + kPage - 1) / kPage * kPage + kPage;
  tw_block.memory_bytes = fibers_bytes + threads * each;
  tw_block.memory = (char*)mmap(0, tw_block.memory_bytes, 3, 0x4022, -1, 0);
  if (tw_block.memory == (char*)-1) __builtin_trap();
  tw_block.fibers = (tw_fiber*)tw_block.memory;
  tw_block.threads = threads;
  tw_block.warp = warp;
  for (int t = 0; t < threads; ++t)
    mprotect(tw_block.memory + fibers_bytes + t * each, kPage, 0);
}
TW_QUIET static void tw_start_block(long stack_bytes) {
  const int threads = tw_block.threads;
  char* const end = tw_block.memory + tw_block.memory_bytes;
  const long each = (stack_bytes + 4095) / 4096 * 4096 + 4096;
  for (int t = 0; t < threads; ++t) {
    // Six registers, where to go on, and no caller.
    void** top = (void**)(end - t * each) - 8;
    top[6] = (void*)tw_fiber_main;
    top[7] = 0;
    tw_block.fibers[t] = {top, tw_ready, 0, 0, 0, 0};
  }
  tw_block.block_epoch = ++tw_block.epoch;
}
TW_QUIET static void tw_drop_fibers() {
  munmap(tw_block.memory, tw_block.memory_bytes);
  tw_block.memory = 0;
  tw_block.fibers = 0;
}

// Whether threads [begin, end) all wait so, in one line.
TW_QUIET static bool tw_together(tw_state state, int begin, int end) {
  for (int t = begin; t < end; ++t) {
    const tw_fiber& fiber = tw_block.fibers[t];
    if (fiber.state != state || fiber.line != tw_block.fibers[begin].line)
      return false;
  }
  return true;
}
// Lets those go on that wait together. False if there are none.
TW_QUIET static bool tw_release() {
  tw_fiber* const fibers = tw_block.fibers;
  bool any = false;
  for (int w = 0; w + tw_block.warp <= tw_block.threads; w += tw_block.warp) {
    const int end = w + tw_block.warp;
    if (!tw_together(tw_at_exchange, w, end)) continue;
    unsigned words[1024];
    for (int t = w; t < end; ++t) words[t - w] = fibers[fibers[t].from].word;
    for (int t = w; t < end; ++t) {
      fibers[t].word = words[t - w];
      fibers[t].state = tw_ready;
    }
    any = true;
  }
  if (any || !tw_together(tw_at_barrier, 0, tw_block.threads)) return any;
  for (int t = 0; t < tw_block.threads; ++t) fibers[t].state = tw_ready;
  ++tw_block.epoch;
  return true;
}
// The first two threads that wait for each other in vain.
TW_QUIET static void tw_report_parted() {
  const tw_fiber* const fibers = tw_block.fibers;
  int one = 0;
  while (fibers[one].state == tw_ended) ++one;
  // Exchanges wait for their warp.
  int other =
      fibers[one].state == tw_at_exchange ? one / tw_block.warp * tw_block.warp
                                          : 0;
  while (other < tw_block.threads - 1 &&
         fibers[other].state == fibers[one].state &&
         fibers[other].line == fibers[one].line)
    ++other;
  tw_reported = {tw_parted, fibers[one].line, blockIdx.x, one};
  tw_reported.other_thread = other;
  tw_reported.other_line =
      fibers[other].state == tw_ended ? 0 : fibers[other].line;
}
#ifdef TW_COUNTED
static void tw_settle_warp();
#endif
// Every thread in turn, from one rendezvous to the next.
TW_QUIET static void tw_run_block(long stack_bytes) {
  tw_start_block(stack_bytes);
  do {
    for (int t = 0; t < tw_block.threads; ++t) {
#ifdef TW_COUNTED
      if (t % 32 == 0) tw_settle_warp();
#endif
      if (tw_block.fibers[t].state != tw_ready) continue;
      threadIdx.x = (unsigned)t;
      tw_switch(&tw_block.scheduler, tw_block.fibers[t].stack);
      if (tw_reported.kind != 0) return;
    }
#ifdef TW_COUNTED
    tw_settle_warp();
#endif
  } while (tw_release());
  for (int t = 0; t < tw_block.threads; ++t) {
    if (tw_block.fibers[t].state != tw_ended) return tw_report_parted();
  }
}
