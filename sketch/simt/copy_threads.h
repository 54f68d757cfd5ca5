// How the threads of a block share a copy in scratch. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_COPY_THREADS_H_
#define TILEWRIGHT_SKETCH_SIMT_COPY_THREADS_H_

#include <cstdint>
#include <string>

#include "sketch/replay/growing_trace.h"
#include "sketch/simt/thread_nest.h"

namespace tilewright::sketch {

// Vectors of 16 bytes along the rows of what is copied, and neighbouring
// threads beside each other.
ThreadDivision DivideAlongSource(GrowingTrace& trace, const std::string& copy,
                                 int64_t threads);

// For a copy whose elements along `dim`, not its last dimension, lie side by
// side: neighbouring threads store those, so that they meet no bank conflicts,
// and each loads vectors of 16 bytes along what is behind that dimension. Where
// that lies in one piece in `operand`, the tensor that is copied, its loops are
// fused.
ThreadDivision DivideAlongCopy(GrowingTrace& trace, const std::string& copy,
                               const std::string& operand, int dim,
                               int64_t threads);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_COPY_THREADS_H_
