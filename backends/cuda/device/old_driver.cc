// A driver that is too old: it lacks nearly everything.
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {
  return 0;
}
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(
    int* version) {
  *version = 8000;
  return 0;
}
