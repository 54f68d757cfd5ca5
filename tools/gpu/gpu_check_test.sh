#!/bin/bash
# gpu_check, all of it but NVRTC and a GPU: on the fake driver, which runs the
# emulator's modules. Shards: as it should be; and sabotaged.
set -u
program=$1
[[ -n ${TEST_SHARD_STATUS_FILE:-} ]] && touch "$TEST_SHARD_STATUS_FILE"
if ! command -v g++ clang++ c++ > /dev/null; then
  echo "SKIPPED: no C++ compiler, which the emulator needs"
  exit 0
fi
out=$TEST_TMPDIR/out.txt
failed=0

# expect STATUS FLAGS...: how it ends.
expect() {
  local status=$1
  shift
  "$program" "$@" > "$out" 2>&1
  local got=$?
  if [[ $got != "$status" ]]; then
    echo "FAILED: '$*' exits with $got, not $status"
    cat "$out"
    failed=1
  fi
}
# has PATTERN...: its output has a line of each.
has() {
  local pattern
  for pattern in "$@"; do
    grep -Eq -- "$pattern" "$out" || {
      echo "FAILED: no line '$pattern' in:"
      cat "$out"
      failed=1
    }
  done
}

if [[ ${TEST_SHARD_INDEX:-0} == 0 ]]; then
  expect 0
  cat "$out"
  has '^Fake GPU, CUDA 13.0, the emulator, cuda:sm_90a$' '^0 wrong$' \
    '^name: "cuda_sm_90"' '^A copy kernel moves [0-9]+ GB/s' \
    '^\| 40 \| [0-9]+ x [0-9]+ \| .* % \|' \
    '^\| chain \| four maps, 7 x 48 \| fp16 ' '^\| all \| [0-9]+ '
  for family in product 'batched product' convolution depthwise pooling softmax \
    norm elementwise transpose 'product, softmax' chain; do
    for storage in fp32 fp16; do
      # By blocks of threads, verified, the interpreter's bits, timed by both
      # clocks, with a prediction.
      has "^\| $family \| [^|]* \| $storage \| [0-9]+ \| [0-9]+ \| [0-9]+ \| [^|]* \| [0-9.]+ \| [0-9.]+ \| [0-9]+ \| [0-9]+ \| [0-9.]+ \| [0-9.e+-]+ \| same \|"
    done
  done
  if grep -q 'one a task\|FAILED\|WRONG\|No cuBLAS\|bytes differ\|do not time' "$out"; then
    echo "FAILED: something in the output is not as it should be"
    failed=1
  fi
fi
if [[ ${TEST_SHARD_INDEX:-1} == 1 ]]; then
  expect 1 --sabotage=blocks --family=softmax
  has 'WRONG: ' '^[1-9][0-9]* wrong$'
  expect 0 --sabotage=records --family=softmax
  has 'Records do not time: .*events time from then on' '^0 wrong$'
fi
exit $failed
