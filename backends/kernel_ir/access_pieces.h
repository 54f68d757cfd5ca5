// Of how many elements the accesses are that a thread of a GPU makes for a
// vector: as wide as its index allows, 16 bytes at most.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ACCESS_PIECES_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ACCESS_PIECES_H_

#include <algorithm>
#include <cstdint>

#include "backends/kernel_ir/divisors.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

inline constexpr int64_t kAccessBytes = 16;  // the widest access of a thread

// A power of two that divides `lanes` and the index in elements.
inline int PieceOf(const Divisors& divisors, int lanes, int64_t element_bytes,
                   Reg offset, int64_t constant_offset) {
  int piece = 1;
  while (lanes % (piece * 2) == 0 &&
         piece * 2 * element_bytes <= kAccessBytes &&
         divisors.Divides(piece * 2, offset, constant_offset))
    piece *= 2;
  return piece;
}

// Both places are multiples of it.
inline int PieceOf(const Divisors& divisors, const AsyncCopyInst& copy,
                   int64_t element_bytes) {
  return std::min(PieceOf(divisors, copy.lanes, element_bytes, copy.from_offset,
                          copy.from_constant),
                  PieceOf(divisors, copy.lanes, element_bytes, copy.to_offset,
                          copy.to_constant));
}

// Whether a vector of `lanes` that is not masked lane by lane, of which
// `active` are touched (0: all), is accessed in pieces as wide as there can be.
// If not, element by element.
inline bool IsInWidePieces(const Divisors& divisors, int lanes, int active,
                           int64_t element_bytes, Reg offset,
                           int64_t constant_offset) {
  return lanes > 1 && (lanes & (lanes - 1)) == 0 &&
         (active == 0 || active == lanes) &&
         PieceOf(divisors, lanes, element_bytes, offset, constant_offset) ==
             std::min(int64_t{lanes}, kAccessBytes / element_bytes);
}

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ACCESS_PIECES_H_
