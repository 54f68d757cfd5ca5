#include "tools/profile/roofline.h"

#include <algorithm>
#include <set>

namespace tilewright::tools {
namespace {

double SizeOfKind(const Program& program, ProgramBuffer::Kind kind) {
  double bytes = 0;
  for (const ProgramBuffer& buffer : program.buffers()) {
    if (buffer.kind() == kind)
      bytes += static_cast<double>(buffer.size_bytes());
  }
  return bytes;
}

double BoundaryBytes(const Program& program) {
  return SizeOfKind(program, ProgramBuffer::INPUT) +
         SizeOfKind(program, ProgramBuffer::OUTPUT);
}

}  // namespace

Work operator+(const Work& a, const Work& b) {
  return {a.flops + b.flops, a.bytes + b.bytes,
          a.constant_bytes + b.constant_bytes};
}

Work WorkOfStep(const Program& program, int step) {
  Work work;
  if (program.steps(step).has_copy()) {
    work.bytes =
        2.0 * static_cast<double>(program.steps(step).copy().size_bytes());
  }
  if (!program.steps(step).has_launch()) return work;
  const Launch& launch = program.steps(step).launch();
  const KernelInfo& kernel = program.kernels(launch.kernel());
  work.flops = static_cast<double>(kernel.flops());
  work.bytes = static_cast<double>(kernel.compulsory_bytes());
  std::set<int> constants;
  for (const Place& arg : launch.args()) {
    const ProgramBuffer& buffer = program.buffers(arg.buffer());
    if (buffer.kind() == ProgramBuffer::CONSTANT &&
        constants.insert(arg.buffer()).second)
      work.constant_bytes += static_cast<double>(buffer.size_bytes());
  }
  // Packed constants may be padded.
  work.constant_bytes = std::min(work.constant_bytes, work.bytes);
  return work;
}

Work WorkOfModel(const Program& program) {
  Work work;
  for (int i = 0; i < program.steps_size(); ++i)
    work.flops += WorkOfStep(program, i).flops;
  work.constant_bytes = SizeOfKind(program, ProgramBuffer::CONSTANT);
  work.bytes = work.constant_bytes + BoundaryBytes(program);
  return work;
}

double ResidentBytes(const Program& program) {
  return SizeOfKind(program, ProgramBuffer::CONSTANT) +
         static_cast<double>(program.arena_bytes()) + BoundaryBytes(program);
}

Bound BoundOf(const Work& work, double resident_bytes, const Limits& limits) {
  const Limits::Level& far = limits.LevelFor(resident_bytes);
  const Limits::Level& near = limits.LevelFor(work.bytes);
  const auto us = [](double amount, double giga_per_s) {
    return giga_per_s > 0 ? amount / giga_per_s * 1e-3 : 0;
  };
  const double compute_us = us(work.flops, limits.gflops);
  const double far_us = us(work.constant_bytes, far.gbytes_per_s);
  const double near_us =
      us(work.bytes - work.constant_bytes, near.gbytes_per_s);
  if (compute_us >= far_us + near_us) return {compute_us, "compute"};
  return {far_us + near_us, far_us > near_us ? far.name : near.name};
}

}  // namespace tilewright::tools
