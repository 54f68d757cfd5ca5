// Prints what stands around a kernel's body: its head, its buffers, who is
// running.
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu_text/kernel_printer.h"

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is printed

absl::StatusOr<std::string> KernelPrinter::Print() && {
  absl::StrAppend(&out_, "// ", k_.name, ": ", k_.num_tasks,
                  k_.num_tasks == 1 ? " task" : " tasks");
  if (k_.has_threads()) absl::StrAppend(&out_, " of ", k_.threads, " threads");
  if (k_.scratch_bytes > 0)
    absl::StrAppend(&out_, ", ", k_.scratch_bytes, " bytes of scratch");
  absl::StrAppend(&out_, "\nextern \"C\" __global__ void __launch_bounds__(",
                  k_.threads);
  if (blocks_per_core_ > 0) absl::StrAppend(&out_, ", ", blocks_per_core_);
  absl::StrAppend(&out_, ")\n", k_.name, "(");
  out_ += Buffers();
  depth_ = 1;
  named_[k_.task] = names_.Take("task");
  if (uses_.reads(k_.task) > 0)
    Line(absl::StrCat("const ", TypeName(dtype(k_.task)), " ", named_[k_.task],
                      " = blockIdx.x;"));
  if (k_.has_threads()) {
    named_[k_.thread] = names_.Take("thread");
    if (uses_.reads(k_.thread) > 0)
      Line(absl::StrCat("const ", TypeName(dtype(k_.thread)), " ",
                        named_[k_.thread], " = threadIdx.x;"));
  }
  Body(k_.body);
  out_ += "}\n";
  if (!status_.ok()) {
    return absl::Status(
        status_.code(),
        absl::StrCat("kernel ", k_.name, ": ", std::string(status_.message())));
  }
  return std::move(out_);
}

std::string KernelPrinter::Buffers() {
  std::string parameters, scratch;
  for (size_t i = 0; i < k_.buffers.size(); ++i) {
    const ScalarBuffer& b = k_.buffers[i];
    buffers_.push_back(names_.Take(b.name));
    const std::string of =
        absl::StrCat("<", TypeName(b.dtype), ", ", b.elements, ">");
    if (b.per_thread) {
      absl::StrAppend(&scratch, "  tw_own", of, " ", buffers_.back(), ";\n");
    } else if (b.role == Role::kLocal) {
      absl::StrAppend(&scratch, "  const auto ", buffers_.back(),
                      " = tw_scratch", of, "(", b.scratch_offset_bytes, ");\n");
    } else {
      // Memory through which threads exchange values changes behind a pointer's
      // back.
      const char* type = b.role != Role::kOutput ? "tw_in"
                         : k_.has_threads() && uses_.Loads(static_cast<int>(i))
                             ? "tw_inout"
                             : "tw_out";
      absl::StrAppend(&parameters, buffers_.size() == 1 ? "" : ",", "\n    ",
                      type, of, " ", buffers_.back());
    }
  }
  return absl::StrCat(parameters, ") {\n", scratch);
}

}  // namespace tilewright::gpu_text
