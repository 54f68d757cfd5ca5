#include "tilegraph/gpu/hardware/matrix_forms.h"

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

const MatrixForm* Find(const std::vector<MatrixForm>& forms,
                       std::string_view name) {
  for (const MatrixForm& form : forms)
    if (form.unit->name() == name) return &form;
  return nullptr;
}

TEST(MatrixFormsTest, FourWarpsOverASquareTile) {
  const ComputeUnit unit = LoadSpec("a100")->unit();
  const auto forms = MatrixForms(unit, "f16", {128, 128, 32}, 128);
  const MatrixForm* form = Find(forms, "mma_m16n8k16_f16");
  ASSERT_NE(form, nullptr);
  // Two by two warps of 64 by 64: (64 + 64) * 32 elements of operands each, the
  // fewest; four by one would be (32 + 128) * 32.
  EXPECT_EQ(form->groups_m, 2);
  EXPECT_EQ(form->groups_n, 2);
  EXPECT_EQ(form->fragments_m, 4);
  EXPECT_EQ(form->fragments_n, 8);
  EXPECT_EQ(form->operand_elements, 4 * (64 + 64) * 32);
  // 64 * 64 f32 over 32 lanes, and (64 + 64) * 16 f16: 128 + 32 registers.
  EXPECT_EQ(form->registers_per_thread, 160);
  EXPECT_EQ(form->useful, 1);
}

TEST(MatrixFormsTest, SmallTilesTurnTheInstruction) {
  // 8 rows: an n8 instruction lies across, and wmma has m8n32.
  const ComputeUnit ampere = LoadSpec("a100")->unit();
  const auto turned = MatrixForms(ampere, "f16", {8, 64, 16}, 32);
  const MatrixForm* form = Find(turned, "mma_m16n8k16_f16");
  ASSERT_NE(form, nullptr);
  EXPECT_TRUE(form->swapped);
  EXPECT_EQ(FragmentRows(*form), 8);
  EXPECT_EQ(form->useful, 1);
  const ComputeUnit volta = LoadSpec("v100")->unit();
  const auto wmma = MatrixForms(volta, "f16", {8, 64, 16}, 64);
  EXPECT_NE(Find(wmma, "wmma_m8n32k16_f16"), nullptr);
  EXPECT_EQ(Find(wmma, "wmma_m16n16k16_f16"), nullptr);  // half is idle
  // f32 stays f32, but AMD's units have it.
  EXPECT_TRUE(MatrixForms(volta, "f32", {64, 64, 16}, 128).empty());
  EXPECT_NE(
      Find(MatrixForms(LoadSpec("mi210")->unit(), "f32", {64, 64, 16}, 256),
           "mfma_f32_16x16x4_f32"),
      nullptr);
}

TEST(MatrixFormsTest, WarpgroupsKeepOnlySumsInRegisters) {
  const ComputeUnit unit = LoadSpec("h100")->unit();
  const auto forms = MatrixForms(unit, "bf16", {128, 256, 64}, 256);
  const MatrixForm* form = Find(forms, "wgmma_m64n256k16_bf16");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->groups_m, 2);
  EXPECT_EQ(form->threads_per_group, 128);
  EXPECT_EQ(form->registers_per_thread, 64 * 256 / 128);
  EXPECT_EQ(Find(MatrixForms(unit, "bf16", {128, 256, 64}, 96),
                 "wgmma_m64n256k16_bf16"),
            nullptr);  // no whole warpgroup
}

TEST(MatrixFormsTest, FragmentsCoverTheTile) {
  Random random(11);
  for (const char* name :
       {"v100", "t4", "a100", "h200", "mi210", "mi300x", "ipu_mk2"}) {
    const ComputeUnit unit = LoadSpec(name)->unit();
    for (int i = 0; i < 100; ++i) {
      const ProductTile tile = {random.UniformInt(1, 300),
                                random.UniformInt(1, 300),
                                random.UniformInt(1, 128)};
      const int64_t threads =
          unit.warp_size() *
          random.UniformInt(1, unit.max_threads_per_block() / unit.warp_size());
      for (const char* dtype : {"f16", "i8", "f32", "f64"}) {
        for (const MatrixForm& form :
             MatrixForms(unit, dtype, tile, threads, 0)) {
          EXPECT_EQ(form.unit->operand_dtype(), dtype);
          EXPECT_EQ(form.groups_m * form.groups_n * form.threads_per_group,
                    threads);
          EXPECT_GE(form.groups_m * form.fragments_m * FragmentRows(form),
                    tile.m);
          EXPECT_GE(form.groups_n * form.fragments_n * FragmentColumns(form),
                    tile.n);
          EXPECT_GT(form.useful, 0);
          EXPECT_LE(form.useful, 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
