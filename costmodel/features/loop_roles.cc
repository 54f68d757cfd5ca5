#include "costmodel/features/loop_roles.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tilegraph/expr/expr_vars.h"

namespace tilewright::costmodel {
namespace {

// -1 if there is no register tile.
int VectorisedLoop(const Statement& statement) {
  const BufferAccess& written = statement.accesses.front();
  int innermost = -1;
  for (size_t i = 0; i < statement.loops.size(); ++i) {
    if (statement.loops[i]->kind != sketch::LoopKind::kTile) continue;
    innermost = static_cast<int>(i);
  }
  for (int i = innermost; i >= 0; --i) {
    const sketch::Loop& loop = *statement.loops[i];
    if (loop.kind == sketch::LoopKind::kTile && loop.extent > 1 &&
        written.strides[i] == 1) {
      return i;
    }
  }
  return innermost;
}

LoopPosition Among(size_t place, size_t axes, LoopPosition inner,
                   LoopPosition middle, LoopPosition outer) {
  if (place + 1 == axes) return inner;
  return place == 0 ? outer : middle;
}

}  // namespace

LoopPosition PositionOf(const Statement& statement, int loop) {
  const sketch::Block& block = *statement.block;
  const int var = statement.loops[loop]->var;
  size_t found = 0, place = 0;
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    if (!Mentions(block.bindings[i], var)) continue;
    ++found;
    place = i;
  }
  if (found == 0) return LoopPosition::kOuterSpatial;
  if (found > 1) return LoopPosition::kMixed;
  const size_t spatial = block.axes.size();
  if (place < spatial) {
    return Among(place, spatial, LoopPosition::kInnerSpatial,
                 LoopPosition::kMiddleSpatial, LoopPosition::kOuterSpatial);
  }
  return Among(place - spatial, block.reduce_axes.size(),
               LoopPosition::kInnerReduce, LoopPosition::kMiddleReduce,
               LoopPosition::kOuterReduce);
}

LoopRoles RolesOf(const Statement& statement) {
  LoopRoles roles;
  const int vectorised = VectorisedLoop(statement);
  for (size_t i = 0; i < statement.loops.size(); ++i) {
    const sketch::Loop& loop = *statement.loops[i];
    auto role = LoopRole::kSerial;
    auto times = static_cast<double>(loop.extent);
    AnnotatedLoops* annotated = nullptr;
    if (static_cast<int>(i) == vectorised) {
      role = LoopRole::kVectorised;
      annotated = &roles.vectorised;
    } else if (loop.kind == sketch::LoopKind::kTask) {
      role = LoopRole::kParallel;
      annotated = &roles.parallel;
    } else if (loop.kind != sketch::LoopKind::kSerial) {
      role = LoopRole::kUnrolled;
      annotated = &roles.unrolled;
    } else if (loop.hints.unroll > 1) {
      role = LoopRole::kUnrolled;
      annotated = &roles.unrolled;
      times = loop.hints.unroll;
    }
    roles.roles.push_back(role);
    roles.asked_copies =
        std::max(roles.asked_copies, static_cast<double>(loop.hints.unroll));
    if (annotated == nullptr) continue;
    annotated->number += 1;
    annotated->product *= times;
    annotated->innermost_extent = times;
    annotated->position = PositionOf(statement, static_cast<int>(i));
  }
  return roles;
}

}  // namespace tilewright::costmodel
