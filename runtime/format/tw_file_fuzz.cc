// Any bytes at all: a Status, never a crash. Half of the runs get a valid
// header around the input, so that it reaches the program's decoder.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "google/protobuf/stubs/logging.h"
#include "runtime/format/tw_file.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)tilewright::ParseTw(bytes);
  tilewright::Program program;
  if (program.ParseFromArray(data, static_cast<int>(size))) {
    (void)tilewright::ParseTw(tilewright::SerializeTw(program, bytes, bytes));
  }
  return 0;
}
