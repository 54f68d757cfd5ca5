#include "backends/kernel_ir/tile_ir.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright::kernel_ir {
namespace {

const char* LevelName(Level level) {
  switch (level) {
    case Level::kGlobal:
      return "global";
    case Level::kScratch:
      return "scratch";
    case Level::kRegisters:
      return "registers";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string Print() {
    absl::StrAppend(
        &out_, "kernel ", kernel_.name, " tasks ", kernel_.num_tasks(),
        kernel_.threads > 0 ? absl::StrCat(" of ", kernel_.threads, " threads")
                            : "",
        "\n");
    for (const Buffer& b : kernel_.buffers) {
      absl::StrAppend(&out_, "  buffer %", b.id, " ", b.name, ": ",
                      std::string(Name(b.dtype)), "[");
      for (size_t i = 0; i < b.layout.shape().size(); ++i)
        absl::StrAppend(&out_, i == 0 ? "" : ", ", b.layout.shape()[i]);
      absl::StrAppend(&out_, "] ", LevelName(b.level), " ", RoleName(b.role));
      if (!b.layout.is_row_major())
        absl::StrAppend(&out_, " layout ", b.layout.ToString());
      out_ += "\n";
    }
    Body(kernel_.body, 1);
    return std::move(out_);
  }

 private:
  void Line(int depth, const std::string& text) {
    absl::StrAppend(&out_, std::string(2 * depth, ' '), text, "\n");
  }
  static std::string VarName(int var, const std::string& name) {
    return absl::StrCat(name, ".", var);
  }
  // Variables carry their id, for names repeat.
  static std::string Text(const Expr& expr) {
    return Rewrite(expr,
                   [](const Expr& e) {
                     return e.op() == Op::kVar
                                ? Expr::Var(e.var_id(),
                                            VarName(e.var_id(), e.var_name()))
                                : Expr();
                   })
        .ToString();
  }
  void Body(const std::vector<Stmt>& body, int depth) {
    for (const Stmt& stmt : body) {
      std::visit([&](const auto& node) { One(node, depth); }, stmt.node);
    }
  }
  static std::string PlaceText(const For::Place& place) {
    return absl::StrCat(" at n/", place.stride,
                        place.wraps > 0 ? absl::StrCat("%", place.wraps) : "",
                        place.combines ? " combining" : "");
  }
  void One(const For& loop, int depth) {
    const char* kind = loop.kind == For::Kind::kTask     ? "task "
                       : loop.kind == For::Kind::kUnroll ? "unroll "
                       : loop.kind == For::Kind::kThread ? "thread "
                                                         : "";
    const std::string hints = absl::StrCat(
        loop.hints.unroll > 0 ? absl::StrCat(" unroll ", loop.hints.unroll)
                              : "",
        loop.hints.prefetch >= 0
            ? absl::StrCat(" prefetch ", loop.hints.prefetch)
            : "",
        loop.hints.stages > 1 ? absl::StrCat(" stages ", loop.hints.stages)
                              : "",
        loop.hints.buffers > 1 ? absl::StrCat(" buffers ", loop.hints.buffers)
                               : "",
        loop.turns.versions > 1
            ? absl::StrCat(loop.turns.ahead ? " ahead of " : " in ",
                           loop.turns.versions, " versions",
                           loop.turns.async ? ", async" : "")
            : "",
        loop.kind == For::Kind::kThread ? PlaceText(loop.place) : "");
    Line(depth, absl::StrCat(kind, "for ", VarName(loop.var, loop.name),
                             " in 0..", loop.extent, hints, ":"));
    Body(loop.body, depth + 1);
  }
  void One(const If& branch, int depth) {
    Line(depth, absl::StrCat("if ", Text(branch.condition), ":"));
    Body(branch.then_body, depth + 1);
    if (branch.else_body.empty()) return;
    Line(depth, "else:");
    Body(branch.else_body, depth + 1);
  }
  void One(const TileOp& op, int depth) {
    static constexpr const char* kPhases[] = {"init", "update", "map"};
    std::string text = kPhases[static_cast<int>(op.phase)];
    if (op.async) text += " async";
    if (!op.intrinsic.empty()) absl::StrAppend(&text, " ", op.intrinsic);
    text += " (";
    for (size_t i = 0; i < op.box.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ",
                      VarName(op.box[i].var, op.box[i].name), ": ",
                      op.box[i].extent);
    }
    text += ")";
    for (size_t i = 0; i < op.dst.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? " " : ", ", "%", op.dst[i], "[");
      for (size_t d = 0; d < op.index.size(); ++d)
        absl::StrAppend(&text, d == 0 ? "" : ", ", Text(op.index[d]));
      text += "]";
    }
    if (op.combiner.has_value())
      absl::StrAppend(&text, " ", op.combiner->ToString());
    if (!op.body.empty()) {
      text += " {";
      for (size_t i = 0; i < op.body.size(); ++i)
        absl::StrAppend(&text, i == 0 ? " " : ", ", Text(op.body[i]));
      text += " }";
    }
    if (op.predicate) absl::StrAppend(&text, " where ", Text(op.predicate));
    Line(depth, text);
  }

  const Kernel& kernel_;
  std::string out_;
};

}  // namespace

const char* RoleName(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kConstant:
      return "constant";
    case Role::kOutput:
      return "output";
    case Role::kLocal:
      return "local";
  }
  return "?";
}

int64_t Kernel::num_tasks() const {
  int64_t tasks = 1;
  for (const std::vector<Stmt>* body_at = &body; body_at->size() == 1;) {
    const For* loop = std::get_if<For>(&body_at->front().node);
    if (loop == nullptr || loop->kind != For::Kind::kTask) break;
    tasks *= loop->extent;
    body_at = &loop->body;
  }
  return tasks;
}

std::string Kernel::ToString() const { return Printer(*this).Print(); }

}  // namespace tilewright::kernel_ir
