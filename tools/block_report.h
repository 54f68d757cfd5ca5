// The blocks of threads that the kernels of a program for a GPU run in.
#ifndef TILEWRIGHT_TOOLS_BLOCK_REPORT_H_
#define TILEWRIGHT_TOOLS_BLOCK_REPORT_H_

#include <string>

#include "runtime/format/program.pb.h"
#include "tools/page/json.h"

namespace tilewright::tools {

// "6 blocks of 128 threads, 8192 bytes shared"; a task of one thread is a block
// of one.
std::string BlocksText(const KernelInfo& kernel);
// A line for each kernel; empty for a CPU.
std::string BlocksText(const Program& program);
// An array with an object for each kernel; empty for a CPU.
void AppendBlocks(const Program& program, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_BLOCK_REPORT_H_
