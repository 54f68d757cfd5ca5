#include "costmodel/features/store_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "costmodel/features/buffer_reuse.h"
#include "costmodel/features/loop_roles.h"
#include "costmodel/features/statements.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::costmodel {
namespace {

constexpr int kBuffers = 5, kBufferFeatures = 18, kCurve = 10;

// One row in the making: amounts are scaled, kinds are not.
class Row {
 public:
  explicit Row(bool log_scale) : log_scale_(log_scale) {
    values_.reserve(kStoreFeatures);
  }
  void Amount(double value) {
    values_.push_back(
        static_cast<float>(log_scale_ ? std::log2(value + 1) : value));
  }
  // 1 at place `kind` of `kinds`, 0 elsewhere.
  void Kind(int kind, int kinds) {
    for (int i = 0; i < kinds; ++i) values_.push_back(i == kind ? 1.0F : 0.0F);
  }
  void Nothing(int columns) { values_.resize(values_.size() + columns); }
  const std::vector<float>& values() const { return values_; }

 private:
  const bool log_scale_;
  std::vector<float> values_;
};

void AddOperations(const OperationCounts& counts, double steps, Row& row) {
  for (const ArithmeticCounts* numbers : {&counts.floats, &counts.integers}) {
    for (const double count :
         {numbers->mad, numbers->add_sub, numbers->mul, numbers->div_mod,
          numbers->compare, numbers->math, numbers->other}) {
      row.Amount(count * steps);
    }
  }
  row.Amount(counts.logic * steps);
  row.Amount(counts.select * steps);
}

void AddAnnotation(const AnnotatedLoops& loops, Row& row) {
  row.Amount(loops.number);
  row.Amount(loops.number == 0 ? 0 : loops.product);
  row.Amount(loops.innermost_extent);
  row.Kind(static_cast<int>(loops.position), kLoopPositions);
}

struct BufferNumbers {
  const BufferAccess* access;
  double bytes, unique_bytes, lines, unique_lines;
  Reuse reuse;
  double stride;
};

class Extractor {
 public:
  Extractor(const sketch::BlockTree& tree, StoreFeatureOptions options)
      : tree_(tree),
        options_(options),
        statements_(StatementsOf(tree)),
        reuse_(tree, statements_) {}

  FeatureMatrix Extract() const {
    FeatureMatrix rows(kStoreFeatures);
    for (const Statement& statement : statements_) {
      Row row(options_.log_scale);
      AddOperations(statement.operations, statement.steps, row);
      const LoopRoles roles = RolesOf(statement);
      AddAnnotation(roles.vectorised, row);
      AddAnnotation(roles.unrolled, row);
      AddAnnotation(roles.parallel, row);
      row.Nothing(8);  // GPU
      AddBuffers(statement, row);
      AddIntensity(statement, row);
      AddAllocation(statement, row);
      row.Amount(statement.loop_steps);
      row.Amount(static_cast<double>(statement.loops.size()));
      row.Amount(roles.asked_copies);
      rows.AddRow(row.values());
    }
    return rows;
  }

 private:
  double ElementBytes(int buffer) const {
    return static_cast<double>(SizeBytes(tree_.buffers[buffer].dtype));
  }

  BufferNumbers NumbersOf(const Statement& statement,
                          const BufferAccess& access) const;
  void AddBuffers(const Statement& statement, Row& row) const;
  void AddIntensity(const Statement& statement, Row& row) const;
  void AddAllocation(const Statement& statement, Row& row) const;

  const sketch::BlockTree& tree_;
  const StoreFeatureOptions options_;
  const std::vector<Statement> statements_;
  const BufferReuse reuse_;
};

BufferNumbers Extractor::NumbersOf(const Statement& statement,
                                   const BufferAccess& access) const {
  const double bytes = ElementBytes(access.buffer);
  const auto line_bytes = static_cast<double>(options_.line_bytes);
  BufferNumbers numbers{&access};
  numbers.bytes = statement.steps * bytes;
  numbers.unique_bytes = access.touched.front() * bytes;
  // Steps that stay at an element stay in its line; a small stride changes it
  // now and then.
  double steps = statement.steps;
  double stride = 0;
  const auto innermost = static_cast<int>(statement.loops.size()) - 1;
  for (int i = innermost; i >= 0; --i) {
    stride = static_cast<double>(access.strides[i]);
    if (stride != 0) break;
    steps /= static_cast<double>(statement.loops[i]->extent);
  }
  numbers.lines =
      std::max(1.0, steps * std::min(1.0, stride * bytes / line_bytes));
  numbers.unique_lines = std::max(
      1.0, numbers.unique_bytes / std::min(access.run * bytes, line_bytes));
  numbers.reuse = reuse_.Of(statement, access);
  numbers.stride =
      innermost < 0 ? 0 : static_cast<double>(access.strides[innermost]);
  return numbers;
}

void Extractor::AddBuffers(const Statement& statement, Row& row) const {
  std::vector<BufferNumbers> buffers;
  for (const BufferAccess& access : statement.accesses) {
    buffers.push_back(NumbersOf(statement, access));
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const BufferNumbers& a, const BufferNumbers& b) {
                     return a.lines != b.lines ? a.lines > b.lines
                                               : a.bytes > b.bytes;
                   });
  if (buffers.size() > kBuffers) buffers.resize(kBuffers);
  for (const BufferNumbers& buffer : buffers) {
    const BufferAccess& access = *buffer.access;
    row.Kind(access.reads && access.writes ? 2 : access.writes ? 1 : 0, 3);
    const double amounts[] = {buffer.bytes, buffer.unique_bytes, buffer.lines,
                              buffer.unique_lines};
    for (const double amount : amounts) row.Amount(amount);
    row.Kind(static_cast<int>(buffer.reuse.kind), 3);
    row.Amount(buffer.reuse.distance_steps);
    row.Amount(buffer.reuse.distance_bytes);
    row.Amount(buffer.reuse.count);
    // Without reuse, twice the amounts: Ansor's constant.
    const double divisor = buffer.reuse.count > 0 ? buffer.reuse.count : 0.5;
    for (const double amount : amounts) row.Amount(amount / divisor);
    row.Amount(buffer.stride);
  }
  row.Nothing((kBuffers - static_cast<int>(buffers.size())) * kBufferFeatures);
}

void Extractor::AddIntensity(const Statement& statement, Row& row) const {
  const auto loops = static_cast<int>(statement.loops.size());
  double operations = statement.operations.FloatOperations();
  if (operations <= 0 || loops == 0) {
    row.Nothing(kCurve);
    return;
  }
  // Points (operations, operations by byte) of ever more loops, from inside.
  std::vector<std::array<double, 2>> points;
  for (int i = loops - 1; i >= 0; --i) {
    double bytes = 0;
    for (const BufferAccess& access : statement.accesses) {
      bytes += access.touched[i] * ElementBytes(access.buffer);
    }
    operations *= static_cast<double>(statement.loops[i]->extent);
    points.push_back({operations, bytes > 0 ? operations / bytes : 0});
  }
  size_t next = 0;
  for (int sample = 1; sample <= kCurve; ++sample) {
    const double at = points.back()[0] * sample / kCurve;
    while (points[next][0] < at * (1 - 1e-9)) ++next;
    double value = points[next][1];
    if (next > 0 && points[next][0] > points[next - 1][0]) {
      const auto& [x0, y0] = points[next - 1];
      const auto& [x1, y1] = points[next];
      value = y0 + (y1 - y0) * (at - x0) / (x1 - x0);
    }
    row.Amount(value);
  }
}

void Extractor::AddAllocation(const Statement& statement, Row& row) const {
  const sketch::Buffer& buffer = tree_.buffers[statement.block->dst[0]];
  if (buffer.level == sketch::MemLevel::kGlobal) {
    row.Nothing(4);
    return;
  }
  const auto elements = static_cast<double>(buffer.layout.physical_elements());
  double outside = 1;
  for (int i = 0; i < reuse_.CommonLoops(buffer.id); ++i) {
    outside *= static_cast<double>(statement.loops[i]->extent);
  }
  row.Amount(elements * ElementBytes(buffer.id));
  row.Amount(outside);
  row.Amount(statement.loop_steps / outside);
  row.Amount(elements * outside);
}

std::vector<std::string> MakeNames() {
  std::vector<std::string> names;
  for (const char* numbers : {"float_", "int_"}) {
    for (const char* kind :
         {"mad", "add_sub", "mul", "div_mod", "compare", "math", "other"}) {
      names.push_back(absl::StrCat(numbers, kind));
    }
  }
  names.insert(names.end(), {"logic", "select"});
  for (const char* role : {"vectorised", "unrolled", "parallel"}) {
    for (const char* what :
         {"number", "product", "extent", "none", "inner_spatial",
          "middle_spatial", "outer_spatial", "inner_reduce", "middle_reduce",
          "outer_reduce", "mixed"}) {
      names.push_back(absl::StrCat(role, ".", what));
    }
  }
  for (const char* gpu : {"is", "block_x", "block_y", "block_z", "thread_x",
                          "thread_y", "thread_z", "virtual_threads"}) {
    names.push_back(absl::StrCat("gpu.", gpu));
  }
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    for (const char* what :
         {"read", "written", "read_and_written", "bytes", "unique_bytes",
          "lines", "unique_lines", "loop_reuse", "statement_reuse", "no_reuse",
          "reuse_steps", "reuse_bytes", "reuse_count", "bytes_by_reuse",
          "unique_bytes_by_reuse", "lines_by_reuse", "unique_lines_by_reuse",
          "stride"}) {
      names.push_back(absl::StrCat("buffer", buffer, ".", what));
    }
  }
  for (int sample = 1; sample <= kCurve; ++sample) {
    names.push_back(absl::StrCat("intensity.", sample));
  }
  names.insert(names.end(), {"allocated.bytes", "allocated.outer_steps",
                             "allocated.inner_steps", "allocated.product",
                             "steps", "loops", "asked_copies"});
  TW_CHECK_EQ(static_cast<int>(names.size()), kStoreFeatures);
  return names;
}

}  // namespace

FeatureMatrix StoreFeatures(const sketch::BlockTree& tree,
                            StoreFeatureOptions options) {
  return Extractor(tree, options).Extract();
}

const std::vector<std::string>& StoreFeatureNames() {
  static const auto& names = *new std::vector<std::string>(MakeNames());
  return names;
}

}  // namespace tilewright::costmodel
