#!/bin/bash
# The promises of the C library to those who link it: no LLVM, small, nothing
# exported but tw_*.
set -eu
readonly library="$1"
readonly stripped="$TEST_TMPDIR/stripped.so"

if readelf -d "$library" | grep NEEDED | grep -i llvm; then
  echo "FAIL: it links LLVM"
  exit 1
fi
if nm -C "$library" | grep -E 'llvm::|tilewright::sketch::'; then
  echo "FAIL: it holds LLVM or sketch"
  exit 1
fi
strip -o "$stripped" "$library"
readonly size_bytes=$(stat -c %s "$stripped")
if ((size_bytes >= 2000000)); then
  echo "FAIL: $size_bytes bytes stripped"
  exit 1
fi
readonly foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^tw_' || true)
if [[ -n $foreign ]]; then
  echo "FAIL: it exports $foreign"
  exit 1
fi
if ! nm -D --defined-only "$library" | grep -q ' tw_model_load'; then
  echo "FAIL: it does not export tw_model_load"
  exit 1
fi
echo "$size_bytes bytes stripped, exports: $(nm -D --defined-only "$library" | wc -l)"
