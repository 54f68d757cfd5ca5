// Dequantized tensors are computed where they are read.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_INLINE_DEQUANTIZE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_INLINE_DEQUANTIZE_H_

#include "frontends/onnx/import_model.h"

namespace tilewright {

// Puts the body of each compute with the role kDequantize into the computes
// that read its elements about once each: maps, and reductions with no more
// terms than it has elements. They then read 8 bits instead of 32. What is read
// elsewhere too, or is an output, stays.
void InlineDequantize(ImportedModel& model);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_INLINE_DEQUANTIZE_H_
