// Buffers of checked modules: views that look at every index. Behind threads.h
// and, where races are looked for, races.h.

// No static of a function: those of templates keep a module from being
// unloaded.
alignas(8) static __thread char tw_nowhere[8];

// Of which threads, and whether they hand each other what is in it.
enum tw_kind { tw_of_thread, tw_of_one, tw_of_all, tw_of_block };
template <typename T, long long elements, tw_kind kind>
struct tw_checked {
  T* base;
#ifdef TW_RACES
  tw_cell* cells;
  TW_QUIET tw_checked(T* base)
      : base(base),
        cells(kind <= tw_of_one || tw_block.fibers == 0
                  ? 0
                  : tw_watch((void*)base, elements, sizeof(T),
                             kind == tw_of_block)) {}
#else
  tw_checked(T* base) : base(base) {}
#endif
  TW_QUIET T& operator[](tw_at at) const {
    if (at.value < 0 || at.value >= elements) {
      tw_report(tw_outside, at.line, at.value, elements);
      return *(T*)tw_nowhere;
    }
#ifdef TW_COUNTED
    if (tw_counted.whole > 0)
      --tw_counted.whole;
    else if (kind != tw_of_thread)
      tw_count(buffer(), at, at.value * (long long)sizeof(T), sizeof(T), 0);
#endif
#ifdef TW_RACES
    if (cells != 0) cells[at.value].line = at.line;
#endif
    return base[at.value];
  }
#ifdef TW_COUNTED
  TW_QUIET tw_site buffer() const {
    if (kind == tw_of_block)
      return {0, 0, -1, (unsigned char*)base - tw_shared()};
    int argument = 0;
    while (tw_counted.arguments[argument] != (const void*)base) ++argument;
    return {0, 0, argument};
  }
#endif
};
template <typename T, long long elements>
using tw_in = tw_checked<const T, elements, tw_of_one>;
template <typename T, long long elements>
using tw_out = tw_checked<T, elements, tw_of_all>;
template <typename T, long long elements>
using tw_inout = tw_checked<T, elements, tw_of_all>;
template <typename T, long long elements>
using tw_local = tw_checked<T, elements, tw_of_block>;
// Copies are views of the first.
template <typename T, long long elements>
struct tw_own : tw_checked<T, elements, tw_of_thread> {
  T memory[elements];
  tw_own() : tw_checked<T, elements, tw_of_thread>(memory) {
    __builtin_memset(memory, 0xff, sizeof(memory));
  }
  tw_own(const tw_own& other)
      : tw_checked<T, elements, tw_of_thread>(other.base) {}
};
// Reports a vector of n elements that no single access reaches. It stands
// before each of theirs.
template <int n, typename T, long long elements, tw_kind kind>
TW_QUIET void tw_must_align(const tw_checked<T, elements, kind>& buffer,
                            tw_at at) {
  constexpr unsigned long bytes = n * sizeof(T) < 16 ? n * sizeof(T) : 16;
  if ((unsigned long)(buffer.base + at.value) % bytes != 0)
    tw_report(tw_misaligned, at.line, at.value, elements);
#ifdef TW_COUNTED
  for (int i = 0; i * bytes < n * sizeof(T); ++i)
    tw_count(buffer.buffer(), at, at.value * (long long)sizeof(T) + i * bytes,
             bytes, i);
  tw_counted.whole = n;
#endif
}

#if defined(TW_COUNTED)
// At once, in pieces: each is an access to either side.
template <int n, int bytes, typename T, long long elements, long long source>
TW_QUIET void tw_copy_async(const tw_checked<T, elements, tw_of_block>& to,
                            tw_at to_at,
                            const tw_checked<const T, source, tw_of_one>& from,
                            tw_at from_at, bool there = true) {
  constexpr int each = bytes / (int)sizeof(T);
  for (int first = 0; first < n; first += each) {
    T piece[each] = {};
    if (there) {
      tw_must_align<each>(from, from_at + first);
      for (int i = 0; i < each; ++i) piece[i] = from[from_at + (first + i)];
    }
    tw_must_align<each>(to, to_at + first);
    for (int i = 0; i < each; ++i) to[to_at + (first + i)] = piece[i];
  }
}
#elif defined(TW_RACES)
// Both places are looked at first.
template <int n, int bytes, typename T, long long elements, long long source>
TW_QUIET void tw_copy_async(const tw_checked<T, elements, tw_of_block>& to,
                            tw_at to_at,
                            const tw_checked<const T, source, tw_of_one>& from,
                            tw_at from_at, bool there = true) {
  const auto outside = [](tw_at at, long long size) {
    if (at.value < 0 || at.value + n > size)
      tw_report(tw_outside, at.line, at.value < 0 ? at.value : size, size);
  };
  if (there) outside(from_at, source);
  outside(to_at, elements);
  if ((unsigned long)(to.base + to_at.value) % bytes != 0)
    tw_report(tw_misaligned, to_at.line, to_at.value, elements);
  if (there && (unsigned long)(from.base + from_at.value) % bytes != 0)
    tw_report(tw_misaligned, from_at.line, from_at.value, source);
  tw_depart({tw_range_of(to.cells), to_at.line, tw_my_flights().commits,
             to_at.value, n,
             there ? (const char*)(from.base + from_at.value) : 0});
}
#endif
