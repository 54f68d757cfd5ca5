// Which of the loops around a block are vectorised, unrolled, parallel.
// Internal to costmodel/features.
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_LOOP_ROLES_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_LOOP_ROLES_H_

#include <cstdint>
#include <vector>

#include "costmodel/features/statements.h"

namespace tilewright::costmodel {

// Where a loop stands among the axes of its block.
enum class LoopPosition : uint8_t {
  kNone,  // there is no such loop
  kInnerSpatial,
  kMiddleSpatial,
  kOuterSpatial,  // or no axis depends on it
  kInnerReduce,
  kMiddleReduce,
  kOuterReduce,
  kMixed,  // several axes depend on it
};
inline constexpr int kLoopPositions = 8;

struct AnnotatedLoops {
  double number = 0, product = 1, innermost_extent = 0;
  LoopPosition position = LoopPosition::kNone;  // of the innermost
};

enum class LoopRole : uint8_t { kSerial, kParallel, kUnrolled, kVectorised };

struct LoopRoles {
  std::vector<LoopRole> roles;  // by loop
  AnnotatedLoops vectorised, unrolled, parallel;
  double asked_copies = 0;  // the most that an annotation asks for
};

// Task loops are parallel. Of a register tile the loop is vectorised along
// which results are neighbours in memory, else the innermost one; its others
// are unrolled, as are loops that say so, and those of which copies are asked
// for, by that number. (Which axis lanes really take, lowering decides.)
LoopRoles RolesOf(const Statement& statement);

LoopPosition PositionOf(const Statement& statement, int loop);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_LOOP_ROLES_H_
