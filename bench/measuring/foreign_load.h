// Who else uses the host's cores.
#ifndef TILEWRIGHT_BENCH_MEASURING_FOREIGN_LOAD_H_
#define TILEWRIGHT_BENCH_MEASURING_FOREIGN_LOAD_H_

namespace tilewright::bench {

// Since it was made: the share of all cores' time, in percent, that neither
// this process and its children had, nor nobody; stolen time is part of it. The
// kernel counts in steps of 10 ms.
class ForeignLoad {
 public:
  ForeignLoad();
  double Percent() const;

 private:
  struct Seconds {
    double total = 0;    // of all cores
    double foreign = 0;  // busy with others, or stolen
  };
  static Seconds Now();
  Seconds start_;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_FOREIGN_LOAD_H_
