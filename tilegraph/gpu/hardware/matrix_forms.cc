#include "tilegraph/gpu/hardware/matrix_forms.h"

#include <optional>
#include <string>
#include <tuple>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

constexpr int64_t kWarpsOfWarpgroup = 4;

int64_t ThreadsOfGroup(const ComputeUnit& unit, const MatrixUnit& matrix) {
  if (matrix.scope() == "warp") return unit.warp_size();
  if (matrix.scope() == "warpgroup")
    return kWarpsOfWarpgroup * unit.warp_size();
  return 1;
}

int64_t BytesOf(std::string_view dtype) {
  if (dtype == "f64" || dtype == "i64") return 8;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16") return 2;
  if (dtype == "i8" || dtype == "u8") return 1;
  return 4;
}

// 32-bit registers of each of `threads` for so many elements.
int64_t RegistersOf(int64_t elements, std::string_view dtype, int64_t threads) {
  return CeilDiv(elements * BytesOf(dtype), 4 * threads);
}

MatrixForm FormOf(const MatrixUnit& matrix, bool swapped,
                  const ProductTile& tile, int64_t groups_m, int64_t groups_n,
                  int64_t group_threads) {
  MatrixForm form;
  form.unit = &matrix;
  form.swapped = swapped;
  form.groups_m = groups_m;
  form.groups_n = groups_n;
  form.threads_per_group = group_threads;
  const int64_t rows = FragmentRows(form), columns = FragmentColumns(form);
  form.fragments_m = CeilDiv(tile.m, rows * groups_m);
  form.fragments_n = CeilDiv(tile.n, columns * groups_n);
  const int64_t k = CeilDiv(tile.k, matrix.k()) * matrix.k();
  const int64_t own_m = form.fragments_m * rows;
  const int64_t own_n = form.fragments_n * columns;
  form.useful = static_cast<double>(tile.m * tile.n * tile.k) /
                static_cast<double>(own_m * groups_m * own_n * groups_n * k);
  form.operand_elements = groups_m * groups_n * (own_m + own_n) * k;
  form.registers_per_thread =
      RegistersOf(own_m * own_n, matrix.accumulator_dtype(), group_threads);
  // Warpgroups read both operands from the scratchpad.
  if (matrix.scope() == "warp") {
    form.registers_per_thread += RegistersOf(
        (own_m + own_n) * matrix.k(), matrix.operand_dtype(), group_threads);
  }
  return form;
}

}  // namespace

int64_t FragmentRows(const MatrixForm& form) {
  return form.swapped ? form.unit->n() : form.unit->m();
}
int64_t FragmentColumns(const MatrixForm& form) {
  return form.swapped ? form.unit->m() : form.unit->n();
}

std::vector<MatrixForm> MatrixForms(const ComputeUnit& unit,
                                    std::string_view operand_dtype,
                                    const ProductTile& tile, int64_t threads,
                                    double least_useful) {
  std::vector<MatrixForm> forms;
  for (const MatrixUnit& matrix : unit.matrix_units()) {
    const int64_t group_threads = ThreadsOfGroup(unit, matrix);
    if (matrix.operand_dtype() != operand_dtype || threads % group_threads != 0)
      continue;
    const int64_t groups = threads / group_threads;
    std::optional<MatrixForm> best;
    const auto key = [](const MatrixForm& f) {
      return std::make_tuple(-f.useful, f.operand_elements, f.swapped,
                             -f.groups_m);
    };
    for (int64_t groups_m = 1; groups_m <= groups; ++groups_m) {
      if (groups % groups_m != 0) continue;
      for (const bool swapped : {false, true}) {
        if (swapped && matrix.m() == matrix.n()) continue;
        const MatrixForm form = FormOf(matrix, swapped, tile, groups_m,
                                       groups / groups_m, group_threads);
        if (!best || key(form) < key(*best)) best = form;
      }
    }
    if (best && best->useful >= least_useful) forms.push_back(*best);
  }
  return forms;
}

}  // namespace tilewright
