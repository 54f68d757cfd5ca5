#include "measure/verify/cpu_spent.h"

#include <sys/resource.h>
#include <time.h>

namespace tilewright::measure {
namespace {

int64_t Ns(const timeval& time) {
  return (int64_t{time.tv_sec} * 1000000 + time.tv_usec) * 1000;
}

}  // namespace

int64_t CpuSpentNs() {
  timespec own = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  return int64_t{own.tv_sec} * 1000000000 + own.tv_nsec +
         Ns(children.ru_utime) + Ns(children.ru_stime);
}

}  // namespace tilewright::measure
