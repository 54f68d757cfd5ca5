#include "backends/cpu/codegen/llvm/llvm_status.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace tilewright::cpu {
namespace {

std::string OneLine(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return absl::StrReplaceAll(line, {{"\n", "; "}});
}

class Handler : public llvm::DiagnosticHandler {
 public:
  explicit Handler(std::string* first_error) : first_error_(first_error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && first_error_->empty()) {
      llvm::raw_string_ostream out(*first_error_);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
    }
    return true;  // nothing is printed
  }

 private:
  std::string* first_error_;
};

}  // namespace

absl::Status LlvmError(std::string_view what, std::string_view detail) {
  return absl::InternalError(
      absl::StrCat(std::string(what), ": ", OneLine(detail)));
}

absl::Status LlvmError(std::string_view what, llvm::Error error) {
  return LlvmError(what, llvm::toString(std::move(error)));
}

DiagnosticCollector::DiagnosticCollector(llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<Handler>(&first_error_));
}

absl::Status DiagnosticCollector::status() const {
  return first_error_.empty() ? absl::OkStatus()
                              : LlvmError("LLVM", first_error_);
}

absl::Status VerifyLlvmModule(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!llvm::verifyModule(module, &out)) return absl::OkStatus();
  return LlvmError("invalid LLVM IR", out.str());
}

}  // namespace tilewright::cpu
