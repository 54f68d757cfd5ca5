// The tests of the suite, by topic. A case is a function that EXPECTs.
#ifndef TILEWRIGHT_BACKENDS_CTS_CASES_H_
#define TILEWRIGHT_BACKENDS_CTS_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "backends/cts/backend.h"

namespace tilewright::cts {

struct Case {
  std::string name;  // a claim, in CamelCase
  std::function<void(const Backend&)> run;
};

std::vector<Case> ArithmeticCases();  // every Op and dtype, casts, lanes, FMA
std::vector<Case> ExtremeCases();     // maxima of maxima
std::vector<Case> MemoryCases();      // loads and stores of every dtype, masks
std::vector<Case> ControlCases();     // loops, ifs, variables
std::vector<Case> LaunchCases();      // tasks, threads, scratch, streams
std::vector<Case> ThreadCases();      // threads of a block
std::vector<Case> ModuleCases();      // what is no module, determinism, reports
std::vector<Case> RandomCases();      // random programs

}  // namespace tilewright::cts

#endif  // TILEWRIGHT_BACKENDS_CTS_CASES_H_
