#include "backends/hip/codegen/code_object_notes.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"

namespace tilewright::hip {
namespace {

int64_t Number(llvm::msgpack::MapDocNode& kernel, llvm::StringRef key) {
  llvm::msgpack::DocNode& value = kernel[key];
  if (value.getKind() == llvm::msgpack::Type::UInt)
    return static_cast<int64_t>(value.getUInt());
  if (value.getKind() == llvm::msgpack::Type::Int) return value.getInt();
  return 0;
}

void ReadDocument(llvm::StringRef blob,
                  std::map<std::string, KernelNotes>& all) {
  llvm::msgpack::Document document;
  if (!document.readFromBlob(blob, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return;
  llvm::msgpack::DocNode& kernels =
      document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray()) return;
  for (llvm::msgpack::DocNode& node : kernels.getArray()) {
    if (!node.isMap()) continue;
    llvm::msgpack::MapDocNode& kernel = node.getMap();
    const llvm::msgpack::DocNode& name = kernel[".name"];
    if (!name.isString()) continue;
    KernelNotes& notes = all[name.getString().str()];
    notes.vector_registers = static_cast<int>(Number(kernel, ".vgpr_count"));
    notes.spilled_registers =
        static_cast<int>(Number(kernel, ".vgpr_spill_count"));
    notes.private_bytes = Number(kernel, ".private_segment_fixed_size");
    notes.shared_bytes = Number(kernel, ".group_segment_fixed_size");
  }
}

}  // namespace

std::map<std::string, KernelNotes> ReadCodeObjectNotes(std::string_view elf) {
  std::map<std::string, KernelNotes> all;
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(
      llvm::StringRef(elf.data(), elf.size()));
  if (!file) {
    llvm::consumeError(file.takeError());
    return all;
  }
  auto headers = file->program_headers();
  if (!headers) {
    llvm::consumeError(headers.takeError());
    return all;
  }
  for (const auto& header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (const auto& note : file->notes(header, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      const llvm::ArrayRef<uint8_t> bytes = note.getDesc(header.p_align);
      ReadDocument(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()),
                                   bytes.size()),
                   all);
    }
    llvm::consumeError(std::move(error));
  }
  return all;
}

}  // namespace tilewright::hip
