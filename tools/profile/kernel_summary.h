// A kernel described in one line for people, from what a .tw knows about it.
#ifndef TILEWRIGHT_TOOLS_PROFILE_KERNEL_SUMMARY_H_
#define TILEWRIGHT_TOOLS_PROFILE_KERNEL_SUMMARY_H_

#include <string>

#include "runtime/format/program.pb.h"

namespace tilewright::tools {

// "conv+bias+relu": the hints of the group's computes.
std::string Operators(const KernelInfo& kernel);
// "[1, 64, 56, 56] as [d0, d1/16, d2, d3, d1%16], sum over 64·3·3; task.2
// 4·14": the output's shape and layout, the longest reduction, and the
// schedule's decisions that divide something.
std::string ShapeAndSchedule(const KernelInfo& kernel);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_KERNEL_SUMMARY_H_
