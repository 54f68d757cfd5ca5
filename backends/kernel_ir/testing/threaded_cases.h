// Kernels with threads as a person would write them, with what they compute.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_THREADED_CASES_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_THREADED_CASES_H_

#include <string>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

struct ThreadedCase {
  ScalarKernel kernel;
  std::vector<std::string> args;      // bytes of the arguments, before
  std::vector<std::string> expected;  // and after; all sums are exact
};

// Sums of rows, one row a block: a tree in shared memory.
ThreadedCase ReduceInScratch(int threads, int columns);
// The same by exchanges within warps of 32, and shared memory among warps.
ThreadedCase ReduceByExchanges(int threads, int columns);
// A matrix transposed tile by tile of 8 x 8 through shared memory.
ThreadedCase TransposeTiles(int rows, int columns);
// A product of matrices, tiles of 16 x 16 in shared memory, 2 x 2 sums a
// thread.
ThreadedCase MultiplyTiles(int m, int n, int k);
// Every thread takes the value of the next lane of its warp.
ThreadedCase RotateLanes(int threads, int warp);
// An output that the threads of a block read back from each other.
ThreadedCase ReadBack(int threads);
// Sums of columns: rows of `threads` elements come into scratch by asynchronous
// copies of `piece` elements, `buffers` rows at a time; each thread adds
// another thread's element. The last rows are zeros that are nowhere in memory.
ThreadedCase SumCopiedRows(int threads, int rows, int buffers, int piece);

// One of each, and of sizes that leave tails.
std::vector<ThreadedCase> AllThreadedCases();

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_THREADED_CASES_H_
