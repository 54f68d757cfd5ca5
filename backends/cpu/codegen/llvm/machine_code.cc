#include "backends/cpu/codegen/llvm/machine_code.h"

#include <memory>

#include "backends/cpu/codegen/llvm/llvm_status.h"
#include "base/status_macros.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils.h"

namespace tilewright::cpu {
namespace {

constexpr uint64_t kSmallestVectorBytes = 16;

// Looks at the machine code right before it is printed.
class FrameReader : public llvm::MachineFunctionPass {
 public:
  explicit FrameReader(std::map<std::string, FrameUse>* frames)
      : MachineFunctionPass(id_), frames_(frames) {}

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    FrameUse use;
    use.stack_bytes =
        static_cast<int64_t>(function.getFrameInfo().getStackSize());
    const llvm::TargetInstrInfo* info = function.getSubtarget().getInstrInfo();
    const auto is_vector = [](const std::optional<llvm::LocationSize>& size) {
      return size.has_value() && size->hasValue() &&
             size->getValue() >= kSmallestVectorBytes;
    };
    for (const llvm::MachineBasicBlock& block : function) {
      for (const llvm::MachineInstr& instruction : block) {
        if (is_vector(instruction.getSpillSize(info)) ||
            is_vector(instruction.getRestoreSize(info)) ||
            is_vector(instruction.getFoldedSpillSize(info)) ||
            is_vector(instruction.getFoldedRestoreSize(info))) {
          ++use.spills;
        }
      }
    }
    (*frames_)[function.getName().str()] = use;
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  llvm::StringRef getPassName() const override { return "frame reader"; }

 private:
  static char id_;
  std::map<std::string, FrameUse>* frames_;
};
char FrameReader::id_ = 0;

// Two passes know less than who wrote the kernel. Loop strength reduction gives
// every address of an unrolled body a register of its own and spills them;
// addresses here are a base, one index and a constant already, which CPUs take
// as they are. The instruction scheduler draws loads together until
// accumulators are spilled; with 32 registers the order in which instructions
// stand here needs no better one, with 16 it does. (The command-line options
// that turn passes off are global, and LLD resets them.)

// A pass that is skipped costs what it wants to know about loops, a tenth of
// all: this one is not there, but for the form of loops that it asks for.
class PassesButStrengthReduction : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    if (pass->getPassName() == "Loop Strength Reduction") {
      delete pass;
      pass = llvm::createLoopSimplifyPass();
    }
    PassManager::add(pass);
  }
};

class SkippedPasses : public llvm::OptPassGate {
 public:
  explicit SkippedPasses(bool schedule) : schedule_(schedule) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override {
    return schedule_ || pass != "Machine Instruction Scheduler";
  }
  bool isEnabled() const override { return true; }

 private:
  const bool schedule_;
};

absl::Status Compile(const CpuTarget& target, llvm::Module& module,
                     llvm::CodeGenFileType file_type,
                     std::map<std::string, FrameUse>* frames,
                     llvm::SmallVectorImpl<char>* output) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine,
                      CreateTargetMachine(target));
  static SkippedPasses* const few_registers = new SkippedPasses(true);
  static SkippedPasses* const many_registers = new SkippedPasses(false);
  module.getContext().setOptPassGate(
      target.vector_registers >= 32 ? *many_registers : *few_registers);
  // These are the passes of TargetMachine::addPassesToEmitFile, with
  // FrameReader before the printer.
  auto& llvm_machine = static_cast<llvm::LLVMTargetMachine&>(*machine);
  llvm::raw_svector_ostream out(*output);
  PassesButStrengthReduction passes;
  llvm::TargetLibraryInfoImpl no_library(machine->getTargetTriple());
  no_library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(no_library));
  // First of all: a pass that asks for it makes one that knows no target, and
  // masked accesses are then taken apart lane by lane.
  passes.add(llvm::createTargetTransformInfoWrapperPass(
      llvm_machine.getTargetIRAnalysis()));
  passes.add(llvm::createEarlyCSEPass());
  llvm::TargetPassConfig* config = llvm_machine.createPassConfig(passes);
#ifdef NDEBUG
  config->setDisableVerify(true);
#endif
  auto* module_info = new llvm::MachineModuleInfoWrapperPass(&llvm_machine);
  passes.add(config);
  passes.add(module_info);
  if (config->addISelPasses()) {
    return LlvmError("back end", "it selects no instructions");
  }
  config->addMachinePasses();
  config->setInitialized();
  passes.add(new FrameReader(frames));
  if (llvm_machine.addAsmPrinter(passes, out, nullptr, file_type,
                                 module_info->getMMI().getContext())) {
    return LlvmError("back end", "it prints no such file");
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  DiagnosticCollector diagnostics(module.getContext());
  passes.run(module);
  const absl::Status status = diagnostics.status();
  module.getContext().setDiagnosticHandler(nullptr);
  return status;
}

}  // namespace

absl::StatusOr<MachineCode> CompileToObject(const CpuTarget& target,
                                            llvm::Module& module) {
  MachineCode code;
  llvm::SmallVector<char, 0> object;
  TW_RETURN_IF_ERROR(Compile(target, module, llvm::CodeGenFileType::ObjectFile,
                             &code.frames, &object));
  code.object.assign(object.data(), object.size());
  return code;
}

absl::StatusOr<std::string> CompileToAssembly(const CpuTarget& target,
                                              llvm::Module& module) {
  llvm::SmallVector<char, 0> text;
  std::map<std::string, FrameUse> frames;
  TW_RETURN_IF_ERROR(Compile(
      target, module, llvm::CodeGenFileType::AssemblyFile, &frames, &text));
  return std::string(text.data(), text.size());
}

}  // namespace tilewright::cpu
