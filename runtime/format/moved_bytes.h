// The bytes that the copies of a program move.
#ifndef TILEWRIGHT_RUNTIME_FORMAT_MOVED_BYTES_H_
#define TILEWRIGHT_RUNTIME_FORMAT_MOVED_BYTES_H_

#include <cstdint>

#include "runtime/format/program.pb.h"

namespace tilewright {

// Repeats included.
inline int64_t BytesOf(const Copy& copy) {
  int64_t bytes = copy.size_bytes();
  for (const Copy::Repeat& repeat : copy.repeats()) bytes *= repeat.count();
  return bytes;
}

// Whether it goes from the host's memory (inputs and outputs too) to the arena
// or back.
inline bool CrossesDevice(const Program& program, const Copy& copy) {
  const auto on_device = [&](const Place& place) {
    return program.buffers(place.buffer()).kind() == ProgramBuffer::ARENA;
  };
  return on_device(copy.to()) != on_device(copy.from());
}

// By one run, between the host's memory and the arena.
inline int64_t MovedBytes(const Program& program) {
  int64_t bytes = 0;
  for (const Step& step : program.steps()) {
    if (step.has_copy() && CrossesDevice(program, step.copy()))
      bytes += BytesOf(step.copy());
  }
  return bytes;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_FORMAT_MOVED_BYTES_H_
