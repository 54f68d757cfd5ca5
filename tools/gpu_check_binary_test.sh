#!/bin/bash
# gpu_check as a file: what it is linked with, and what it says where there is
# no GPU.
set -u
program=$1
failed=0

others=$(ldd "$program" |
  grep -Ev 'linux-vdso|ld-linux|lib(c|m|dl|pthread|rt)\.so')
if [[ -n $others ]]; then
  echo "FAILED: it needs more than libc:"
  echo "$others"
  failed=1
fi
if nm -D "$program" | grep -q ' U .*LLVM'; then
  echo "FAILED: it needs LLVM"
  failed=1
fi
if nm -D "$program" | grep -E '@GLIBC_2\.(3[6-9]|[4-9][0-9])'; then
  echo "FAILED: it needs a newer glibc than 2.35"
  failed=1
fi

text=$("$program" --nonsense 2>&1)
if [[ $? != 2 || $text != *"usage: gpu_check"* ]]; then
  echo "FAILED: a flag that it has not: $text"
  failed=1
fi
if [[ -e /dev/nvidiactl ]]; then
  echo "SKIPPED: what it says without a GPU: this machine has one"
  exit $failed
fi
text=$("$program" 2>&1)
if [[ $? != 1 || $text != "gpu_check: "* ]]; then
  echo "FAILED: without a GPU it says: $text"
  failed=1
fi
exit $failed
