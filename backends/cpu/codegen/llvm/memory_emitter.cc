#include "backends/cpu/codegen/llvm/memory_emitter.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

#include "backends/cpu/codegen/llvm/convert.h"
#include "backends/cpu/kernel_abi.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {
namespace {

using ::llvm::Value;

// Larger than any vector a kernel loads.
constexpr int kZeroBytes = 4096;

bool IsAllTrue(Value* mask) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  return constant != nullptr && constant->isAllOnesValue();
}

}  // namespace

MemoryEmitter::MemoryEmitter(Builder& b, const CpuTarget& target,
                             const kernel_ir::ScalarKernel& kernel, Value* args,
                             Value* scratch)
    : b_(b), target_(target), kernel_(kernel) {
  llvm::Type* pointer = b_.getPtrTy();
  const auto load_pointer = [&](Value* from, int64_t offset_bytes) {
    llvm::LoadInst* load = b_.CreateLoad(
        pointer,
        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), from, offset_bytes));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(b_.getContext(), {}));
    return load;
  };
  Value* addresses = load_pointer(args, offsetof(KernelArgs, buffers));
  llvm::MDBuilder metadata(b_.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(kernel.name);
  std::vector<llvm::Metadata*> scopes;
  int64_t argument = 0;
  for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
    Value* base;
    if (buffer.role == kernel_ir::Role::kLocal) {
      base = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch,
                                           buffer.scratch_offset_bytes);
    } else {
      base = load_pointer(addresses,
                          argument++ * static_cast<int64_t>(sizeof(void*)));
    }
    base->setName(buffer.name);
    base_.push_back(base);
    scopes.push_back(metadata.createAnonymousAliasScope(domain, buffer.name));
  }
  for (size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    own_scope_.push_back(llvm::MDNode::get(b_.getContext(), {scopes[i]}));
    other_scopes_.push_back(llvm::MDNode::get(b_.getContext(), others));
  }
}

llvm::Align MemoryEmitter::ElementAlign(int buffer) const {
  return llvm::Align(
      static_cast<uint64_t>(SizeBytes(kernel_.buffers[buffer].dtype)));
}

llvm::Instruction* MemoryEmitter::Annotate(llvm::Instruction* access,
                                           int buffer) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, own_scope_[buffer]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, other_scopes_[buffer]);
  return access;
}

Value* MemoryEmitter::Address(int buffer, Value* offset,
                              int64_t constant_offset) {
  llvm::Type* element = MemoryLlvmType(b_.getContext(), target_,
                                       kernel_.buffers[buffer].dtype, 1);
  Value* address = base_[buffer];
  if (offset != nullptr) address = b_.CreateGEP(element, address, offset);
  if (constant_offset == 0) return address;
  return b_.CreateConstGEP1_64(element, address, constant_offset);
}

Value* MemoryEmitter::LaneMask(int lanes, int active, Value* mask) {
  if (mask != nullptr && !mask->getType()->isVectorTy()) {
    mask = b_.CreateVectorSplat(lanes, mask);
  }
  if (mask != nullptr && IsAllTrue(mask)) mask = nullptr;
  if (active == 0 || active >= lanes) return mask;
  std::vector<llvm::Constant*> bits(lanes, b_.getFalse());
  for (int i = 0; i < active; ++i) bits[i] = b_.getTrue();
  Value* first = llvm::ConstantVector::get(bits);
  return mask == nullptr ? first : b_.CreateAnd(first, mask);
}

Value* MemoryEmitter::Zeros() {
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  constexpr char kName[] = "zeros";
  if (llvm::GlobalVariable* zeros = module->getNamedGlobal(kName)) return zeros;
  auto* type = llvm::ArrayType::get(b_.getInt8Ty(), kZeroBytes);
  auto* zeros = new llvm::GlobalVariable(
      *module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantAggregateZero::get(type), kName);
  zeros->setAlignment(llvm::Align(64));
  return zeros;
}

int MemoryEmitter::TouchedLanes(int lanes, int active, DType dtype) const {
  if (active == 0 || active >= lanes) return lanes;
  const int per_register =
      std::max(1, target_.vector_bytes / static_cast<int>(SizeBytes(dtype)));
  return std::min(lanes,
                  (active + per_register - 1) / per_register * per_register);
}

Value* MemoryEmitter::FirstLanes(Value* vector, int lanes) {
  std::vector<int> first(lanes);
  std::iota(first.begin(), first.end(), 0);
  return b_.CreateShuffleVector(vector, first);
}

Value* MemoryEmitter::LoadMasked(const kernel_ir::LoadInst& inst, int lanes,
                                 Value* address, Value* mask) {
  const DType dtype = kernel_.buffers[inst.buffer].dtype;
  const int touched = TouchedLanes(lanes, inst.active, dtype);
  if (mask != nullptr && mask->getType()->isVectorTy() && touched < lanes)
    mask = FirstLanes(mask, touched);
  llvm::Type* type = MemoryLlvmType(b_.getContext(), target_, dtype, touched);
  Value* zero = llvm::Constant::getNullValue(type);
  Value* loaded;
  if (Value* lane_mask = LaneMask(touched, inst.active, mask)) {
    loaded =
        Annotate(b_.CreateMaskedLoad(type, address, ElementAlign(inst.buffer),
                                     lane_mask, zero),
                 inst.buffer);
  } else {
    loaded =
        Annotate(b_.CreateAlignedLoad(type, address, ElementAlign(inst.buffer)),
                 inst.buffer);
  }
  if (touched == lanes) return loaded;
  std::vector<int> widened(lanes, touched);
  std::iota(widened.begin(), widened.begin() + touched, 0);
  return b_.CreateShuffleVector(loaded, zero, widened);
}

Value* MemoryEmitter::Load(const kernel_ir::LoadInst& inst,
                           const kernel_ir::RegType& type, Value* offset,
                           Value* mask, Value* other) {
  const DType dtype = kernel_.buffers[inst.buffer].dtype;
  const int lanes = type.lanes;
  Value* address = Address(inst.buffer, offset, inst.constant_offset);
  const bool partial = inst.active != 0 && inst.active < lanes;
  if (mask != nullptr && IsAllTrue(mask)) mask = nullptr;
  Value* loaded;
  if (mask != nullptr && !mask->getType()->isVectorTy() && !partial &&
      lanes * SizeBytes(dtype) <= kZeroBytes) {
    // One condition for all lanes: read zeros instead, without a branch.
    loaded = b_.CreateAlignedLoad(
        MemoryLlvmType(b_.getContext(), target_, dtype, lanes),
        b_.CreateSelect(mask, address, Zeros()), ElementAlign(inst.buffer));
  } else {
    loaded = LoadMasked(inst, lanes, address, mask);
  }
  if (type.dtype == kernel_ir::RegisterType(dtype))
    loaded = FromMemory(b_, target_, dtype, loaded);
  if (other == nullptr) return loaded;
  if (lanes > 1) mask = LaneMask(lanes, inst.active, mask);
  return mask == nullptr ? loaded : b_.CreateSelect(mask, loaded, other);
}

void MemoryEmitter::Store(const kernel_ir::StoreInst& inst, int lanes,
                          Value* value, Value* offset, Value* mask) {
  const DType dtype = kernel_.buffers[inst.buffer].dtype;
  Value* address = Address(inst.buffer, offset, inst.constant_offset);
  value = ToMemory(b_, target_, dtype, value);
  if (inst.streaming && streams_) {
    llvm::StoreInst* store = b_.CreateAlignedStore(
        value, address,
        llvm::Align(static_cast<uint64_t>(target_.vector_bytes)));
    store->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(b_.getContext(),
                          {llvm::ConstantAsMetadata::get(b_.getInt32(1))}));
    Annotate(store, inst.buffer);
    return;
  }
  const llvm::Align align = ElementAlign(inst.buffer);
  if (mask != nullptr && lanes == 1) {
    // The pass that expands masked accesses wants vectors.
    mask = b_.CreateVectorSplat(1, mask);
    value = b_.CreateVectorSplat(1, value);
  } else if (lanes > 1) {
    const int touched = TouchedLanes(lanes, inst.active, dtype);
    if (touched < lanes) {
      value = FirstLanes(value, touched);
      if (mask != nullptr && mask->getType()->isVectorTy())
        mask = FirstLanes(mask, touched);
    }
    mask = LaneMask(touched, inst.active, mask);
  }
  Annotate(mask == nullptr ? static_cast<llvm::Instruction*>(
                                 b_.CreateAlignedStore(value, address, align))
                           : b_.CreateMaskedStore(value, address, align, mask),
           inst.buffer);
}

Value* MemoryEmitter::AreVectorAligned(absl::Span<const int> buffers) {
  Value* low_bits = b_.getInt64(0);
  for (const int buffer : buffers)
    low_bits = b_.CreateOr(low_bits,
                           b_.CreatePtrToInt(base_[buffer], b_.getInt64Ty()));
  low_bits = b_.CreateAnd(low_bits, b_.getInt64(target_.vector_bytes - 1));
  return b_.CreateICmpEQ(low_bits, b_.getInt64(0));
}

void MemoryEmitter::EmitFence() {
  target_.instructions->StreamFence(b_);
}

void MemoryEmitter::Prefetch(const kernel_ir::PrefetchInst& inst,
                             Value* offset) {
  Value* address = Address(inst.buffer, offset, inst.constant_offset);
  const int locality = inst.level == 0 ? 3 : 2;  // prefetcht0, prefetcht1
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, b_.getInt32(0), b_.getInt32(locality), b_.getInt32(1)});
}

}  // namespace tilewright::cpu
