// A pass on the scalar tier: outputs that no cache can hold are stored past the
// caches. A line that is stored whole need not be read before; half of the
// traffic of a store is saved, and what others keep in the caches stays there.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_PASSES_STREAM_STORES_H_
#define TILEWRIGHT_BACKENDS_LOWERING_PASSES_STREAM_STORES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::lowering {

struct StreamOptions {
  int64_t cache_bytes = 0;  // of the outermost cache; 0: nothing is streamed
  int vector_bytes = 64;
};

// Marks stores of whole vectors, proven to lie at multiples of their size, into
// outputs of more than half the cache that the kernel only stores to, if all
// its arguments together exceed the cache. What a schedule asks for
// (ScalarBuffer::streamed) goes before sizes. The names of the outputs of which
// some store is marked.
std::vector<std::string> StreamStores(kernel_ir::ScalarKernel& kernel,
                                      const StreamOptions& options);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_PASSES_STREAM_STORES_H_
