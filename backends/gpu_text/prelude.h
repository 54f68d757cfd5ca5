// The text that stands before the kernels: element types, vectors, and every
// operation that C++ has not. Texts include nothing.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_PRELUDE_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_PRELUDE_H_

#include <string>
#include <string_view>

namespace tilewright::gpu_text {

// Kernels are the same in both; their preludes differ in what hardware does.
enum class Dialect { kCuda, kHip };

std::string_view Name(Dialect dialect);  // "cuda", "hip"

// The files prelude/*.h, in order. Macros that whoever compiles a text for
// something else than a GPU may define before it (backends/emulator):
//   TW_EMULATED  the functions that would be single instructions are defined
//                tw_must_align<n>(buffer, at) is called before aligned accesses
//   TW_CHECKED   tw_at, and tw_in, tw_out, tw_inout, tw_local and tw_own are
std::string Prelude(Dialect dialect);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_PRELUDE_H_
