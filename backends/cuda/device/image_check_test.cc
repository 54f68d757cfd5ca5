#include "backends/cuda/device/image_check.h"

#include <elf.h>

#include <cstddef>
#include <string>

#include "backends/cuda/device/fake_image.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using absl::StatusCode;

TEST(ImageCheckTest, TellsCubinsFromPtx) {
  EXPECT_THAT(CheckImage(FakeImage({})), IsOkAndHolds(ImageKind::kCubin));
  EXPECT_THAT(CheckImage(".version 8.0\n.target sm_80\n"),
              IsOkAndHolds(ImageKind::kPtx));
  EXPECT_THAT(CheckImage("// made by\n//\n\n  .version 8.0"),
              IsOkAndHolds(ImageKind::kPtx));
}

TEST(ImageCheckTest, RefusesWhatIsNeither) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {""s, "x"s, "//"s, "// only a comment"s, ".versio"s,
        ".version 8.0\0more"s, std::string(500, '\0'),
        "\x7f"
        "ELF"s}) {
    EXPECT_THAT(CheckImage(bytes), StatusIs(StatusCode::kInvalidArgument));
  }
}

TEST(ImageCheckTest, RefusesEveryCutAndOtherMachines) {
  const std::string whole = FakeImage({});
  const size_t elf = whole.size() - 4;  // without the lines for the fake
  for (size_t size = 0; size < elf; ++size) {
    EXPECT_THAT(CheckImage(whole.substr(0, size)),
                StatusIs(StatusCode::kInvalidArgument));
  }
  std::string other = whole;
  other[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
  EXPECT_THAT(CheckImage(other),
              StatusIs(StatusCode::kInvalidArgument, "another machine"));
}

TEST(ImageCheckTest, RefusesSectionsAndTablesOutside) {
  for (const uint64_t beyond :
       {uint64_t{1} << 20, ~uint64_t{0} - 8, ~uint64_t{0}}) {
    std::string image = FakeImage({});
    image.replace(offsetof(Elf64_Ehdr, e_shoff), 8,
                  reinterpret_cast<const char*>(&beyond), 8);
    EXPECT_THAT(CheckImage(image), StatusIs(StatusCode::kInvalidArgument));
    image = FakeImage({});
    const size_t section = sizeof(Elf64_Ehdr);
    image[section + offsetof(Elf64_Shdr, sh_type)] = SHT_PROGBITS;
    image.replace(section + offsetof(Elf64_Shdr, sh_offset), 8,
                  reinterpret_cast<const char*>(&beyond), 8);
    image[section + offsetof(Elf64_Shdr, sh_size)] = 16;
    EXPECT_THAT(CheckImage(image),
                StatusIs(StatusCode::kInvalidArgument, "section"));
  }
}

TEST(ImageCheckTest, CubinsRunOnTheirMajorVersionFromTheirMinorOn) {
  const auto fits = [](const char* target, int major, int minor) {
    return CheckArchitecture(target, ImageKind::kCubin, major, minor).ok();
  };
  EXPECT_TRUE(fits("sm_80", 8, 0));
  EXPECT_TRUE(fits("sm_80", 8, 6));
  EXPECT_FALSE(fits("sm_86", 8, 0));
  EXPECT_FALSE(fits("sm_80", 9, 0));
  EXPECT_TRUE(fits("sm_90a", 9, 0));
  EXPECT_TRUE(fits("sm_100", 10, 3));
  EXPECT_FALSE(fits("sm_100a", 10, 3));
}

TEST(ImageCheckTest, PtxRunsOnWhatIsNewer) {
  const auto fits = [](const char* target, int major, int minor) {
    return CheckArchitecture(target, ImageKind::kPtx, major, minor).ok();
  };
  EXPECT_TRUE(fits("sm_75", 9, 0));
  EXPECT_TRUE(fits("sm_80", 8, 6));
  EXPECT_FALSE(fits("sm_90", 8, 9));
  EXPECT_FALSE(fits("sm_90a", 10, 0));
}

TEST(ImageCheckTest, SaysWhichArchitectureWouldFit) {
  EXPECT_THAT(CheckArchitecture("sm_80", ImageKind::kCubin, 9, 0),
              StatusIs(StatusCode::kFailedPrecondition,
                       "for sm_80, this device is sm_90"));
  for (const char* wrong : {"", "sm_", "sm_a", "gfx90a", "sm_9", "sm_8x"}) {
    EXPECT_THAT(CheckArchitecture(wrong, ImageKind::kCubin, 9, 0),
                StatusIs(StatusCode::kInvalidArgument, "no CUDA architecture"));
  }
}

}  // namespace
}  // namespace tilewright::cuda
