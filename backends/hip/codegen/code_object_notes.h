// What a code object says of its kernels: the note NT_AMDGPU_METADATA, a
// MessagePack document (LLVM's "User Guide for AMDGPU Backend", code object
// metadata).
#ifndef TILEWRIGHT_BACKENDS_HIP_CODEGEN_CODE_OBJECT_NOTES_H_
#define TILEWRIGHT_BACKENDS_HIP_CODEGEN_CODE_OBJECT_NOTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tilewright::hip {

struct KernelNotes {
  int vector_registers = 0;   // of a lane, of 32 bits
  int spilled_registers = 0;  // vector registers
  int64_t private_bytes = 0;  // of a lane's frame
  int64_t shared_bytes = 0;   // declared in the text; launches may add to them
};

// By kernel; nothing where the file is damaged or has no such note.
std::map<std::string, KernelNotes> ReadCodeObjectNotes(std::string_view elf);

}  // namespace tilewright::hip

#endif  // TILEWRIGHT_BACKENDS_HIP_CODEGEN_CODE_OBJECT_NOTES_H_
