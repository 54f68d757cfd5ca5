#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "runtime/format/tw_file.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr int kMaxRepeats = 4;

bool IsPlainText(const std::string& name) {
  for (const char c : name) {
    if (c < ' ' || c > '~') return false;
  }
  return name.size() < 1024;
}

absl::Status Broken(std::string what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "its program makes no sense (", what, "); compile the model again"));
}

// Bytes of a boundary tensor, or -1 if it has no sane type or shape.
int64_t TensorBytes(const TensorSpec& tensor) {
  int64_t bytes = SizeBytes(tensor.element_type());
  if (bytes == 0) return -1;
  for (const int64_t extent : tensor.shape()) {
    if (extent < 0 || extent > kMaxBytes ||
        __builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMaxBytes)
      return -1;
  }
  return bytes;
}

bool Inside(int64_t offset, int64_t size, int64_t limit) {
  return offset >= 0 && size >= 0 && offset <= limit && size <= limit - offset;
}

absl::Status CheckBuffer(const Program& program, int i,
                         int64_t constants_bytes) {
  const ProgramBuffer& buffer = program.buffers(i);
  int64_t limit = 0;
  switch (buffer.kind()) {
    case ProgramBuffer::INPUT:
    case ProgramBuffer::OUTPUT: {
      const auto& tensors = buffer.kind() == ProgramBuffer::INPUT
                                ? program.inputs()
                                : program.outputs();
      if (buffer.index() < 0 || buffer.index() >= tensors.size())
        return Broken(absl::StrCat("buffer ", i, " names no tensor"));
      limit = TensorBytes(tensors[buffer.index()]);
      break;
    }
    case ProgramBuffer::CONSTANT:
      limit = constants_bytes;
      break;
    case ProgramBuffer::ARENA:
      limit = program.arena_bytes();
      break;
    case ProgramBuffer::HOST:
      limit = program.host_bytes();
      break;
    default:
      return Broken(absl::StrCat("buffer ", i, " has no kind"));
  }
  if (!Inside(buffer.offset_bytes(), buffer.size_bytes(), limit))
    return Broken(absl::StrCat("buffer ", i, " leaves its memory"));
  return absl::OkStatus();
}

absl::Status CheckPlace(const Program& program, const Place& place,
                        int64_t size_bytes, bool written) {
  if (place.buffer() < 0 || place.buffer() >= program.buffers_size())
    return Broken("a step uses a buffer that does not exist");
  const ProgramBuffer& buffer = program.buffers(place.buffer());
  if (!Inside(place.offset_bytes(), size_bytes, buffer.size_bytes()))
    return Broken("a step leaves its buffer");
  if (written && (buffer.kind() == ProgramBuffer::INPUT ||
                  buffer.kind() == ProgramBuffer::CONSTANT)) {
    return Broken("a step writes an input or a constant");
  }
  return absl::OkStatus();
}

// Adds to `reach` how far repeating moves what it is.
absl::Status Repeat(int64_t count, int64_t stride_bytes, int64_t& reach) {
  int64_t extra = 0;
  if (count < 1 || count > kMaxBytes || stride_bytes < 0 ||
      stride_bytes > kMaxBytes ||
      __builtin_mul_overflow(count - 1, stride_bytes, &extra) ||
      __builtin_add_overflow(reach, extra, &reach))
    return Broken("a step has a bad repeat");
  return absl::OkStatus();
}

// A step that repeats writes every byte at most once: it ends, and its bytes
// can be counted. `repeats` have counts that Repeat accepts.
template <typename Repeats>
absl::Status CheckWork(const Program& program, const Place& to,
                       int64_t size_bytes, const Repeats& repeats) {
  int64_t bytes = size_bytes;
  for (const auto& repeat : repeats) {
    if (size_bytes < 1 ||
        __builtin_mul_overflow(bytes, repeat.count(), &bytes) ||
        bytes > program.buffers(to.buffer()).size_bytes())
      return Broken("a step repeats more than its buffer holds");
  }
  return absl::OkStatus();
}

absl::Status CheckZero(const Program& program, const Zero& zero) {
  if (zero.repeats_size() > kMaxRepeats)
    return Broken("a zero step repeats too deeply");
  int64_t reach = zero.size_bytes();
  for (const Zero::Repeat& repeat : zero.repeats())
    TW_RETURN_IF_ERROR(Repeat(repeat.count(), repeat.stride_bytes(), reach));
  TW_RETURN_IF_ERROR(CheckPlace(program, zero.to(), reach, true));
  return CheckWork(program, zero.to(), zero.size_bytes(), zero.repeats());
}

absl::Status CheckCopy(const Program& program, const Copy& copy) {
  if (copy.repeats_size() > kMaxRepeats)
    return Broken("a copy repeats too deeply");
  if (copy.size_bytes() < 0) return Broken("a copy has a negative size");
  int64_t to = copy.size_bytes(), from = copy.size_bytes();
  for (const Copy::Repeat& repeat : copy.repeats()) {
    TW_RETURN_IF_ERROR(Repeat(repeat.count(), repeat.to_stride_bytes(), to));
    TW_RETURN_IF_ERROR(
        Repeat(repeat.count(), repeat.from_stride_bytes(), from));
  }
  TW_RETURN_IF_ERROR(CheckPlace(program, copy.to(), to, true));
  TW_RETURN_IF_ERROR(CheckPlace(program, copy.from(), from, false));
  return CheckWork(program, copy.to(), copy.size_bytes(), copy.repeats());
}

absl::Status CheckLaunch(const Program& program, const Launch& launch) {
  if (launch.kernel() < 0 || launch.kernel() >= program.kernels_size())
    return Broken("a launch names no kernel");
  const KernelInfo& kernel = program.kernels(launch.kernel());
  if (launch.args_size() != kernel.args_size())
    return Broken("a launch has another number of arguments than its kernel");
  for (int i = 0; i < launch.args_size(); ++i) {
    const Place& arg = launch.args(i);
    TW_RETURN_IF_ERROR(CheckPlace(program, arg, kernel.args(i).size_bytes(),
                                  kernel.args(i).written()));
    if (program.buffers(arg.buffer()).kind() == ProgramBuffer::HOST)
      return Broken("a launch uses host memory");
  }
  return absl::OkStatus();
}

absl::Status CheckStep(const Program& program, const Step& step) {
  switch (step.kind_case()) {
    case Step::kLaunch:
      return CheckLaunch(program, step.launch());
    case Step::kCopy:
      return CheckCopy(program, step.copy());
    case Step::kZero:
      return CheckZero(program, step.zero());
    default:
      return Broken("an empty step");
  }
}

}  // namespace

absl::Status VerifyProgram(const Program& program, int64_t constants_bytes) {
  for (const int64_t bytes : {program.arena_bytes(), program.host_bytes()}) {
    if (bytes < 0 || bytes > kMaxBytes)
      return Broken("its arena has no sane size");
  }
  for (const auto* tensors : {&program.inputs(), &program.outputs()}) {
    for (const TensorSpec& tensor : *tensors) {
      if (TensorBytes(tensor) < 0)
        return Broken(absl::StrCat("tensor '",
                                   absl::Utf8SafeCEscape(tensor.name()),
                                   "' has no sane type or shape"));
    }
  }
  for (int i = 0; i < program.buffers_size(); ++i)
    TW_RETURN_IF_ERROR(CheckBuffer(program, i, constants_bytes));
  if (!IsPlainText(program.target())) return Broken("its target is no name");
  for (const KernelInfo& kernel : program.kernels()) {
    if (!IsPlainText(kernel.name()))
      return Broken("a kernel has no plain name");
    if (kernel.num_tasks() < 0 || kernel.num_tasks() > kMaxBytes ||
        kernel.scratch_bytes() < 0 || kernel.scratch_bytes() > kMaxBytes) {
      return Broken(
          absl::StrCat("kernel '", kernel.name(), "' has no sane size"));
    }
  }
  bool after_launch = false;
  for (const Step& step : program.steps()) {
    TW_RETURN_IF_ERROR(CheckStep(program, step));
    if (step.launch().beside_previous() && !after_launch)
      return Broken("a launch beside no other");
    after_launch = step.has_launch();
  }
  return absl::OkStatus();
}

}  // namespace tilewright
