#include "backends/lowering/tile/register_runs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::Buffer;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

std::set<int> RegistersOf(const std::vector<Buffer>& buffers,
                          const Stmt& stmt) {
  std::set<int> touched;
  const auto touch = [&](int buffer) {
    if (buffers[buffer].level == kernel_ir::Level::kRegisters)
      touched.insert(buffer);
  };
  ForEachOp(stmt, [&](const TileOp& op) {
    for (const int dst : op.dst) touch(dst);
    for (const Expr& body : op.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad) touch(e.source());
      });
    }
  });
  return touched;
}

}  // namespace

std::vector<size_t> EndsOfRegisterRuns(const std::vector<Buffer>& buffers,
                                       const std::vector<Stmt>& stmts) {
  std::vector<std::set<int>> registers;
  std::map<int, size_t> last;  // statement that touches a buffer
  for (size_t i = 0; i < stmts.size(); ++i) {
    registers.push_back(RegistersOf(buffers, stmts[i]));
    for (const int buffer : registers[i]) last[buffer] = i;
  }
  std::vector<size_t> ends;
  size_t shares = 0;  // the last statement that the run shares registers with
  for (size_t i = 0; i < stmts.size(); ++i) {
    shares = std::max(shares, i);
    for (const int buffer : registers[i])
      shares = std::max(shares, last[buffer]);
    if (shares == i) ends.push_back(i + 1);
  }
  return ends;
}

}  // namespace tilewright::lowering
