// Counts what a GPU's memory does in the accesses of warps. Behind threads.h,
// before the views.
//
// Lanes of a warp run one after the other. Accesses of theirs are one of the
// warp's if they stand at the same place of the text, in the same iteration of
// every loop around it, between the same rendezvous.

struct tw_site {
  long long line, column, argument, scratch_bytes;
  long long accesses, sectors, least_sectors, block_sectors, turns, least_turns;
};
struct tw_access {
  unsigned long long key;
  unsigned site, slot, lanes;
  int bytes;        // of each lane
  long long at[32];  // by lane
};
// An array that grows, of memory that begins as zeros.
template <typename T>
struct tw_room {
  T* items;
  long size;
};
template <typename T>
TW_QUIET static void tw_resize(tw_room<T>& room, long size) {
  T* const items =
      size == 0 ? 0 : (T*)mmap(0, size * sizeof(T), 3, 0x4022, -1, 0);
  if (items == (T*)-1) __builtin_trap();
  for (long i = 0; i < size && i < room.size; ++i) items[i] = room.items[i];
  if (room.size > 0) munmap(room.items, room.size * sizeof(T));
  room = {items, size};
}
enum { tw_most_arguments = 256, tw_sector_bytes = 32, tw_banks = 32 };
static __thread struct {
  void* const* arguments;
  int num_arguments;
  tw_room<tw_site> sites;  // two slots for each
  long num_sites;
  tw_room<tw_access> accesses;  // of the warp, since the last rendezvous
  long num_accesses;
  tw_room<unsigned> slots;  // of accesses by key, from 1; 0: free
  // By sector of an argument: the last block that touched it, from 1.
  tw_room<int> touched[tw_most_arguments];
  int whole;  // accesses that come next and are part of the last
  unsigned long long iteration;  // of a kernel without threads
} tw_counted;

TW_QUIET static unsigned long long tw_mixed(unsigned long long a) {
  a = (a ^ a >> 31) * 0x9e3779b97f4a7c15ull;
  return a ^ a >> 29;
}
TW_QUIET static unsigned long long& tw_iteration() {
  return tw_block.fibers == 0 ? tw_counted.iteration
                              : tw_block.fibers[threadIdx.x].iteration;
}
// Stands before every loop of the text: numbers its iterations.
struct tw_loop {
  unsigned long long outer, count = 0;
  TW_QUIET tw_loop() : outer(tw_iteration()) {}
  TW_QUIET ~tw_loop() { tw_iteration() = outer; }
  TW_QUIET bool next() {
    tw_iteration() = tw_mixed(outer + ++count);
    return true;
  }
};
#define TW_COUNTED_FOR(...)                                          \
  if (tw_loop tw_this_loop; true)                                    \
    for (__VA_ARGS__)                                                \
      if (!tw_this_loop.next()) {                                    \
      } else

// Lanes whose data fill the banks once are served together.
TW_QUIET static int tw_group_lanes(int bytes) {
  return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
}
TW_QUIET static void tw_count_turns(const tw_access& a, tw_site& site) {
  const int lanes = tw_group_lanes(a.bytes);
  for (int first = 0; first < 32; first += lanes) {
    long long words[tw_banks][32];
    int of_bank[tw_banks] = {}, most = 0;
    for (int l = first; l < first + lanes; ++l) {
      if ((a.lanes >> l & 1) == 0) continue;
      for (long long w = a.at[l] / 4; w <= (a.at[l] + a.bytes - 1) / 4; ++w) {
        const int bank = (int)(w % tw_banks);
        int i = 0;
        while (i < of_bank[bank] && words[bank][i] != w) ++i;
        if (i < of_bank[bank]) continue;  // one word, to all who want it
        words[bank][of_bank[bank]++] = w;
        if (of_bank[bank] > most) most = of_bank[bank];
      }
    }
    site.turns += most;
    site.least_turns += most > 0;
  }
}
// Adds a value to those before it. False if it is among them.
TW_QUIET static bool tw_is_new(long long* values, int& count, long long value) {
  for (int i = count; i-- > 0;)
    if (values[i] == value) return false;
  values[count++] = value;
  return true;
}
TW_QUIET static void tw_count_sectors(const tw_access& a, tw_site& site) {
  tw_room<int>& touched = tw_counted.touched[site.argument];
  const int block = (int)blockIdx.x + 1;
  long long sectors[64], places[32];
  int num_sectors = 0, num_places = 0;
  for (int l = 0; l < 32; ++l) {
    if ((a.lanes >> l & 1) == 0) continue;
    tw_is_new(places, num_places, a.at[l]);
    for (long long s = a.at[l] / tw_sector_bytes;
         s <= (a.at[l] + a.bytes - 1) / tw_sector_bytes; ++s) {
      if (!tw_is_new(sectors, num_sectors, s)) continue;
      if (s >= touched.size) tw_resize(touched, 2 * s + 64);
      site.block_sectors += touched.items[s] != block;
      touched.items[s] = block;
    }
  }
  site.sectors += num_sectors;
  site.least_sectors +=
      (num_places * a.bytes + tw_sector_bytes - 1) / tw_sector_bytes;
}
TW_QUIET static void tw_settle(const tw_access& a) {
  tw_site& site = tw_counted.sites.items[a.site];
  ++site.accesses;
  if (site.argument >= 0)
    tw_count_sectors(a, site);
  else
    tw_count_turns(a, site);
}
// All lanes of the warp have come to a rendezvous or to the end.
TW_QUIET static void tw_settle_warp() {
  for (long i = 0; i < tw_counted.num_accesses; ++i) {
    const tw_access& a = tw_counted.accesses.items[i];
    tw_settle(a);
    tw_counted.slots.items[a.slot] = 0;
  }
  tw_counted.num_accesses = 0;
}

TW_QUIET static bool tw_same_site(const tw_site& a, const tw_site& b) {
  return a.line == b.line && a.column == b.column &&
         a.argument == b.argument && a.scratch_bytes == b.scratch_bytes;
}
TW_QUIET static unsigned tw_slot_of(const tw_room<tw_site>& sites,
                                    const tw_site& of) {
  unsigned long long slot =
      tw_mixed(tw_mixed(of.line << 32 | of.column) +
               (unsigned long long)(of.argument * 64 + of.scratch_bytes));
  for (;; ++slot) {
    slot %= sites.size;
    if (sites.items[slot].line == 0 || tw_same_site(sites.items[slot], of))
      return (unsigned)slot;
  }
}
// A place of the text and the buffer that it names.
TW_QUIET static unsigned tw_site_of(const tw_site& of) {
  tw_room<tw_site>& sites = tw_counted.sites;
  unsigned slot = tw_slot_of(sites, of);
  if (sites.items[slot].line != 0) return slot;
  // Accesses that are not settled hold their sites' numbers.
  if (tw_counted.num_sites == sites.size / 2) __builtin_trap();
  ++tw_counted.num_sites;
  sites.items[slot] = of;
  return slot;
}
// The warp's access with that key.
TW_QUIET static tw_access& tw_access_of(unsigned long long key, unsigned site,
                                        int bytes) {
  tw_room<unsigned>& slots = tw_counted.slots;
  tw_room<tw_access>& accesses = tw_counted.accesses;
  if (tw_counted.num_accesses == accesses.size) {
    tw_resize(accesses, 2 * accesses.size);
    tw_resize(slots, 0);
    tw_resize(slots, 2 * accesses.size);
    for (long i = 0; i < tw_counted.num_accesses; ++i) {
      unsigned long long slot = accesses.items[i].key % slots.size;
      while (slots.items[slot] != 0) slot = (slot + 1) % slots.size;
      slots.items[slot] = (unsigned)i + 1;
      accesses.items[i].slot = (unsigned)slot;
    }
  }
  unsigned long long slot = key % slots.size;
  for (; slots.items[slot] != 0; slot = (slot + 1) % slots.size) {
    tw_access& a = accesses.items[slots.items[slot] - 1];
    if (a.key == key) return a;
  }
  tw_access& a = accesses.items[tw_counted.num_accesses++];
  slots.items[slot] = (unsigned)tw_counted.num_accesses;
  a.key = key;
  a.site = site;
  a.slot = (unsigned)slot;
  a.lanes = 0;
  a.bytes = bytes;
  return a;
}
// An access of the running thread, from `at` bytes of the buffer on.
TW_QUIET static void tw_count(const tw_site& buffer, tw_at where, long long at,
                              int bytes, int piece) {
  tw_site of = buffer;
  of.line = where.line;
  of.column = where.place >> 8;
  const unsigned site = tw_site_of(of);
  if (tw_block.fibers == 0) {
    tw_access a = {0, site, 0, 1, bytes, {at}};
    return tw_settle(a);
  }
  const unsigned long long key = tw_mixed(
      tw_mixed(tw_iteration() + site) + (where.place & 0xff) + 256 * piece);
  const int lane = threadIdx.x % 32;
  tw_access& a = tw_access_of(key, site, bytes);
  a.lanes |= 1u << lane;
  a.at[lane] = at;
}

TW_QUIET static void tw_drop_counts() {
  tw_resize(tw_counted.sites, 0);
  tw_resize(tw_counted.accesses, 0);
  tw_resize(tw_counted.slots, 0);
  for (tw_room<int>& touched : tw_counted.touched) tw_resize(touched, 0);
}
TW_QUIET static void tw_begin_counts(void* const* arguments, int count) {
  if (count > tw_most_arguments) __builtin_trap();
  tw_drop_counts();
  tw_counted.arguments = arguments;
  tw_counted.num_arguments = count;
  tw_counted.num_sites = tw_counted.num_accesses = 0;
  tw_counted.whole = 0;
  tw_counted.iteration = 0;
  tw_resize(tw_counted.sites, 1l << 17);
  tw_resize(tw_counted.accesses, 1l << 12);
  tw_resize(tw_counted.slots, 1l << 13);
}
// Gives what the last launch did, and forgets it.
extern "C" TW_QUIET void tw_take_counts(void (*take)(void*, const tw_site*),
                                        void* context) {
  for (long i = 0; i < tw_counted.sites.size; ++i) {
    if (tw_counted.sites.items[i].line != 0)
      take(context, &tw_counted.sites.items[i]);
  }
  tw_drop_counts();
}
