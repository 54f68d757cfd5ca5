#include "runtime/format/tw_file.h"

#include <cstdio>
#include <fstream>
#include <string>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// One input of four floats, copied to the output through the arena, plus one
// constant.
Program SmallProgram() {
  Program program;
  program.set_target("cpu:x86-64-v2");
  program.set_arena_bytes(64);
  for (TensorSpec* tensor : {program.add_inputs(), program.add_outputs()}) {
    tensor->set_name("x");
    tensor->set_element_type(FLOAT32);
    tensor->add_shape(4);
  }
  for (const auto kind : {ProgramBuffer::INPUT, ProgramBuffer::OUTPUT,
                          ProgramBuffer::ARENA, ProgramBuffer::CONSTANT}) {
    ProgramBuffer* buffer = program.add_buffers();
    buffer->set_kind(kind);
    buffer->set_size_bytes(16);
  }
  Copy* copy = program.add_steps()->mutable_copy();
  copy->mutable_to()->set_buffer(1);
  copy->mutable_from()->set_buffer(0);
  copy->set_size_bytes(16);
  return program;
}

std::string SmallFile() {
  return SerializeTw(SmallProgram(), "module bytes", std::string(16, 'c'));
}

TEST(TwFileTest, WhatIsWrittenIsRead) {
  const std::string bytes = SmallFile();
  TW_ASSERT_OK_AND_ASSIGN(const TwView view, ParseTw(bytes));
  EXPECT_EQ(view.program.SerializeAsString(),
            SmallProgram().SerializeAsString());
  EXPECT_EQ(view.module, "module bytes");
  EXPECT_EQ(view.constants, std::string(16, 'c'));
}

TEST(TwFileTest, PartsAreTheFileAndViewWhatIsLarge) {
  // Modules that end before a page, on one and behind it.
  for (const size_t size : {0, 1, 4095, 4096, 4097}) {
    const std::string module(size, 'm'), constants(16, 'c');
    const TwParts file(SmallProgram(), module, constants);
    std::string bytes;
    for (const std::string_view part : file.parts()) bytes += part;
    EXPECT_EQ(file.size_bytes(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(bytes, SerializeTw(SmallProgram(), module, constants));
    EXPECT_EQ(file.parts()[1].data(), module.data());
    EXPECT_EQ(file.parts()[3].data(), constants.data());
    TW_EXPECT_OK(ParseTw(bytes)) << size;
  }
}

TEST(TwFileTest, ConstantsStartOnAPage) {
  const std::string bytes = SmallFile();
  TW_ASSERT_OK_AND_ASSIGN(const TwView view, ParseTw(bytes));
  EXPECT_EQ((view.constants.data() - bytes.data()) % 4096, 0);
}

TEST(TwFileTest, EveryTruncationIsRefused) {
  const std::string bytes = SmallFile();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ParseTw(bytes.substr(0, size)).ok()) << size;
}

TEST(TwFileTest, EveryFlippedBitOutsideThePaddingIsRefused) {
  const std::string bytes = SmallFile();
  TW_ASSERT_OK_AND_ASSIGN(const TwView view, ParseTw(bytes));
  const size_t module_at = view.module.data() - bytes.data();
  const size_t constants_at = view.constants.data() - bytes.data();
  const size_t program_end = 136 + view.program.ByteSizeLong();
  for (size_t at = 0; at < bytes.size(); ++at) {
    const bool padding =
        (at >= program_end && at < module_at) ||
        (at >= module_at + view.module.size() && at < constants_at);
    if (padding) continue;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << bit);
      EXPECT_FALSE(ParseTw(damaged).ok()) << at << "." << bit;
    }
  }
}

TEST(TwFileTest, AnotherVersionIsNamed) {
  std::string bytes = SmallFile();
  bytes[8] = 99;
  EXPECT_THAT(
      ParseTw(bytes).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("version 99")));
}

TEST(TwFileTest, AnotherKindOfFileIsNotATwFile) {
  EXPECT_THAT(ParseTw("\x7f"
                      "ELF and more")
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a .tw file")));
}

TEST(TwFileTest, OpenNamesThePath) {
  EXPECT_THAT(
      TwFile::Open("/does/not/exist.tw").status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/does/not/exist.tw")));
  const std::string path = testing::TempDir() + "/truncated.tw";
  std::ofstream(path) << SmallFile().substr(0, 200);
  EXPECT_THAT(TwFile::Open(path).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")));
}

// With one argument.
void AddKernel(Program& program, int64_t size_bytes, bool written) {
  KernelInfo* kernel = program.add_kernels();
  kernel->set_name("k");
  kernel->add_args()->set_size_bytes(size_bytes);
  kernel->mutable_args(0)->set_written(written);
}

TEST(VerifyProgramTest, AcceptsALaunchWithinItsBuffers) {
  Program program = SmallProgram();
  AddKernel(program, 16, true);
  program.add_steps()->mutable_launch()->add_args()->set_buffer(2);
  TW_EXPECT_OK(VerifyProgram(program, 16));
}

struct BadProgram {
  const char* what;
  void (*damage)(Program&);
};

TEST(VerifyProgramTest, RefusesWhatWouldTouchForeignMemory) {
  const BadProgram cases[] = {
      {"buffer leaves the arena",
       [](Program& p) { p.mutable_buffers(2)->set_size_bytes(65); }},
      {"buffer leaves the constants",
       [](Program& p) { p.mutable_buffers(3)->set_offset_bytes(1); }},
      {"negative offset",
       [](Program& p) { p.mutable_buffers(2)->set_offset_bytes(-64); }},
      {"offset that overflows",
       [](Program& p) { p.mutable_buffers(2)->set_offset_bytes(INT64_MAX); }},
      {"input larger than its tensor",
       [](Program& p) { p.mutable_buffers(0)->set_size_bytes(20); }},
      {"tensor too large",
       [](Program& p) { p.mutable_inputs(0)->add_shape(INT64_MAX); }},
      {"copy leaves its buffer",
       [](Program& p) {
         p.mutable_steps(0)->mutable_copy()->set_size_bytes(17);
       }},
      {"copy into a constant",
       [](Program& p) {
         p.mutable_steps(0)->mutable_copy()->mutable_to()->set_buffer(3);
       }},
      {"copy whose repeats leave its buffer",
       [](Program& p) {
         Copy::Repeat* repeat =
             p.mutable_steps(0)->mutable_copy()->add_repeats();
         repeat->set_count(2);
         repeat->set_to_stride_bytes(16);
       }},
      {"copy that repeats backwards",
       [](Program& p) {
         Copy::Repeat* repeat =
             p.mutable_steps(0)->mutable_copy()->add_repeats();
         repeat->set_count(2);
         repeat->set_from_stride_bytes(-16);
       }},
      {"launch on host memory",
       [](Program& p) {
         AddKernel(p, 16, false);
         p.set_host_bytes(64);
         p.mutable_buffers(2)->set_kind(ProgramBuffer::HOST);
         p.add_steps()->mutable_launch()->add_args()->set_buffer(2);
       }},
      {"argument larger than its buffer",
       [](Program& p) {
         AddKernel(p, 17, false);
         p.add_steps()->mutable_launch()->add_args()->set_buffer(2);
       }},
      {"argument that leaves its buffer",
       [](Program& p) {
         AddKernel(p, 16, false);
         Place* place = p.add_steps()->mutable_launch()->add_args();
         place->set_buffer(2);
         place->set_offset_bytes(1);
       }},
      {"argument of negative size",
       [](Program& p) {
         AddKernel(p, -1, false);
         p.add_steps()->mutable_launch()->add_args()->set_buffer(2);
       }},
      {"kernel that writes a constant",
       [](Program& p) {
         AddKernel(p, 16, true);
         p.add_steps()->mutable_launch()->add_args()->set_buffer(3);
       }},
      {"argument too few",
       [](Program& p) {
         AddKernel(p, 16, false);
         p.add_steps()->mutable_launch();
       }},
      {"kernel whose name is no text",
       [](Program& p) { p.add_kernels()->set_name("a\nb"); }},
      {"target of two lines", [](Program& p) { p.set_target("cpu\n"); }},
      {"copy that never ends",
       [](Program& p) {
         Copy::Repeat* repeat =
             p.mutable_steps(0)->mutable_copy()->add_repeats();
         repeat->set_count(int64_t{1} << 40);
       }},
      {"copy of nothing that never ends",
       [](Program& p) {
         p.mutable_steps(0)->mutable_copy()->set_size_bytes(0);
         Copy::Repeat* repeat =
             p.mutable_steps(0)->mutable_copy()->add_repeats();
         repeat->set_count(int64_t{1} << 40);
       }},
      {"unknown buffer",
       [](Program& p) {
         p.mutable_steps(0)->mutable_copy()->mutable_to()->set_buffer(9);
       }},
      {"unknown kernel",
       [](Program& p) { p.add_steps()->mutable_launch()->set_kernel(0); }},
      {"launch beside a copy",
       [](Program& p) {
         p.add_kernels()->set_name("k");
         p.add_steps()->mutable_launch()->set_beside_previous(true);
       }},
      {"empty step", [](Program& p) { p.add_steps(); }},
      {"zero that overflows",
       [](Program& p) {
         Zero* zero = p.add_steps()->mutable_zero();
         zero->mutable_to()->set_buffer(2);
         zero->set_size_bytes(1);
         zero->add_repeats()->set_count(1 << 30);
         zero->mutable_repeats(0)->set_stride_bytes(int64_t{1} << 40);
       }},
  };
  TW_EXPECT_OK(VerifyProgram(SmallProgram(), 16));
  for (const BadProgram& bad : cases) {
    Program program = SmallProgram();
    bad.damage(program);
    EXPECT_THAT(VerifyProgram(program, 16),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("makes no sense")))
        << bad.what;
  }
}

}  // namespace
}  // namespace tilewright
