#!/bin/bash
# Sizes that the process may not have: status 1 and one line that says how much was asked for and for what.
set -u
readonly tilewright="$PWD/$1"
readonly model="$TEST_TMPDIR/model.onnx"
cp -L testdata/bad/dynamic_dimension.onnx "$model"  # f32[N, 16] times [16, 24]
failures=0

# expect_refusal KIB "WORDS" ARGS...: under `ulimit -v KIB`.
expect_refusal() {
  local limit="$1" words="$2" word got
  shift 2
  (ulimit -c 0 -v "$limit"; exec timeout 60 "$tilewright" "$@") >"$TEST_TMPDIR/stdout" 2>"$TEST_TMPDIR/stderr"
  got=$?
  if [[ $got != 1 || $(wc -l <"$TEST_TMPDIR/stderr") != 1 ]]; then
    echo "FAIL: '$*' exits $got with: $(head -c 800 "$TEST_TMPDIR/stderr")"
    failures=$((failures + 1))
  fi
  for word in $words; do
    grep -qF -- "$word" "$TEST_TMPDIR/stderr" && continue
    echo "FAIL: '$*' does not mention '$word': $(cat "$TEST_TMPDIR/stderr")"
    failures=$((failures + 1))
  done
}

# An input larger than any machine, one larger than the limit, an output larger than what the input leaves.
expect_refusal 4194304 "cannot allocate 1099511627776 bytes (1.0 TiB) 'A' [17179869184," run "$model" --dim=N=17179869184 --threads=1
expect_refusal 4194304 "cannot allocate 5120000000 bytes (4.8 GiB) 'A'" run "$model" --dim=N=80000000 --threads=1
expect_refusal 1000000 "cannot allocate bytes 'Y'" run "$model" --dim=N=6000000 --threads=1
# Little room for anything: still one line.
expect_refusal 500000 "tilewright:" run "$model" --dim=N=6000000 --threads=1
[[ $failures == 0 ]]
