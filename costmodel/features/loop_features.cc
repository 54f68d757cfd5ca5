#include "costmodel/features/loop_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "costmodel/features/loop_roles.h"
#include "costmodel/features/statements.h"

namespace tilewright::costmodel {
namespace {

double OperationsOf(const Statement& statement) {
  return statement.steps * (1 + statement.operations.FloatOperations() +
                            statement.operations.integers.mad +
                            statement.operations.integers.mul +
                            statement.operations.integers.add_sub);
}

const Statement& Heaviest(const std::vector<Statement>& statements) {
  TW_CHECK(!statements.empty()) << "a tree without blocks";
  return *std::max_element(statements.begin(), statements.end(),
                           [](const Statement& a, const Statement& b) {
                             return OperationsOf(a) < OperationsOf(b);
                           });
}

// The written buffer, then those with most elements.
std::vector<const BufferAccess*> BuffersOf(const Statement& statement) {
  std::vector<const BufferAccess*> buffers;
  for (const BufferAccess& access : statement.accesses) {
    buffers.push_back(&access);
  }
  std::stable_sort(buffers.begin() + 1, buffers.end(),
                   [](const BufferAccess* a, const BufferAccess* b) {
                     return a->touched.front() > b->touched.front();
                   });
  if (buffers.size() > kFeaturedBuffers) buffers.resize(kFeaturedBuffers);
  return buffers;
}

float Log(double value) { return static_cast<float>(std::log2(value + 1)); }

// Products of extents: of loops before i, and of i and those after it.
struct Steps {
  std::vector<double> outside, inside;
};

Steps StepsOf(const Statement& statement) {
  const size_t loops = statement.loops.size();
  Steps steps{std::vector<double>(loops + 1, 1),
              std::vector<double>(loops + 1, 1)};
  for (size_t i = 0; i < loops; ++i) {
    steps.outside[i + 1] =
        steps.outside[i] * static_cast<double>(statement.loops[i]->extent);
  }
  for (size_t i = loops; i-- > 0;) {
    steps.inside[i] =
        steps.inside[i + 1] * static_cast<double>(statement.loops[i]->extent);
  }
  return steps;
}

struct Point {
  double x, y;
};

void SampleCurve(std::vector<Point> points, std::vector<float>& row) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.x != b.x ? a.x < b.x : a.y < b.y;
  });
  size_t next = 0;
  for (int x = 0; x < kCurvePoints; ++x) {
    while (next < points.size() && points[next].x <= x + 1e-6) ++next;
    const bool found = next > 0;
    row.push_back(found ? static_cast<float>(points[next - 1].y) : 0.0F);
    row.push_back(found ? static_cast<float>(x - points[next - 1].x) : 0.0F);
  }
}

}  // namespace

std::vector<float> LoopFeatures(const sketch::BlockTree& tree) {
  const std::vector<Statement> statements = StatementsOf(tree);
  const Statement& statement = Heaviest(statements);
  const std::vector<const BufferAccess*> buffers = BuffersOf(statement);
  const Steps steps = StepsOf(statement);
  const LoopRoles roles = RolesOf(statement);
  const ArithmeticCounts& floats = statement.operations.floats;
  std::vector<float> row;
  row.reserve(kLoopFeatures);
  const auto loops = static_cast<int>(statement.loops.size());
  for (int i = loops - 1; i >= std::max(0, loops - kFeaturedLoops); --i) {
    row.push_back(Log(static_cast<double>(statement.loops[i]->extent)));
    row.push_back(Log(i));
    row.push_back(Log(steps.outside[i + 1]));
    row.push_back(Log(steps.inside[i]));
    for (const LoopRole role : {LoopRole::kSerial, LoopRole::kParallel,
                                LoopRole::kUnrolled, LoopRole::kVectorised}) {
      row.push_back(roles.roles[i] == role ? 1.0F : 0.0F);
    }
    for (const double count : {floats.mad + floats.add_sub,
                               floats.mad + floats.mul, floats.div_mod}) {
      row.push_back(Log(count * steps.inside[i]));
    }
    for (size_t b = 0; b < kFeaturedBuffers; ++b) {
      if (b >= buffers.size()) {
        row.resize(row.size() + 4);
        continue;
      }
      const BufferAccess& access = *buffers[b];
      row.push_back(Log(static_cast<double>(access.strides[i])));
      row.push_back((access.moving_loops >> i & 1) != 0 ? 1.0F : 0.0F);
      row.push_back(Log(access.touched[i]));
      row.push_back(Log(steps.inside[i] / std::max(1.0, access.touched[i])));
    }
  }
  row.resize(kLoopFeatures);
  return row;
}

std::vector<float> CurveFeatures(const sketch::BlockTree& tree) {
  const std::vector<Statement> statements = StatementsOf(tree);
  const Statement& statement = Heaviest(statements);
  const Steps steps = StepsOf(statement);
  std::vector<float> row;
  row.reserve(kCurveFeatures);
  for (const BufferAccess* access : BuffersOf(statement)) {
    std::vector<Point> touched_reuse, reuse_touched, touched_steps,
        steps_touched;
    for (size_t i = 0; i < statement.loops.size(); ++i) {
      const double elements = std::max(1.0, access->touched[i]);
      const double touched = std::log2(elements);
      const double reuse = std::log2(std::max(1.0, steps.inside[i] / elements));
      const double outside = std::log2(steps.outside[i]);
      touched_reuse.push_back({touched, reuse});
      reuse_touched.push_back({reuse, touched});
      touched_steps.push_back({touched, outside});
      steps_touched.push_back({outside, touched});
    }
    SampleCurve(std::move(touched_reuse), row);
    SampleCurve(std::move(reuse_touched), row);
    SampleCurve(std::move(touched_steps), row);
    SampleCurve(std::move(steps_touched), row);
  }
  row.resize(kCurveFeatures);
  return row;
}

}  // namespace tilewright::costmodel
