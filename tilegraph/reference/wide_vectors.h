// For loops over plain doubles that take most of a reference's time: compiled
// once more for wider vectors, and chosen when the program starts. No element's
// operations, or their order, depend on it.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_WIDE_VECTORS_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_WIDE_VECTORS_H_

// Sanitizers are not ready yet when that is chosen.
#if defined(__x86_64__) && !__has_feature(address_sanitizer) && \
    !__has_feature(thread_sanitizer)
#define TILEWRIGHT_WIDE_VECTORS \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TILEWRIGHT_WIDE_VECTORS
#endif

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_WIDE_VECTORS_H_
