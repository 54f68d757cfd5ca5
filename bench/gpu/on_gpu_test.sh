#!/bin/bash
# on_gpu.sh with a program in gpu_check's place that prints what it is asked for.
set -u
on_gpu=$1
out=$TEST_TMPDIR/out
check=$TEST_TMPDIR/check
printf '#!/bin/bash\necho "${GTEST_TOTAL_SHARDS:+$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS: }$*"\n' > "$check"
chmod +x "$check"
# No PyTorch here, whatever the machine has.
mkdir "$TEST_TMPDIR/bin"
printf '#!/bin/bash\nexit 1\n' > "$TEST_TMPDIR/bin/python3"
chmod +x "$TEST_TMPDIR/bin/python3"
PATH=$TEST_TMPDIR/bin:$PATH
failed=0
expect() {
  [[ "$(cat "$out/$1.md")" == "$2" ]] || { echo "FAILED: $1.md is '$(cat "$out/$1.md")', not '$2'"; failed=1; }
}
"$on_gpu" "$check" "$out" a.tw b.tw -- c.tw > "$TEST_TMPDIR/log" || failed=1
for shard in 0 1 2 3 4 5 6 7; do
  expect "conformance_$shard" "$shard of 8: --only=conformance"
done
expect models "--only=models --seconds=0.1 --details=$out/models.jsonl --outputs=$out/outputs a.tw b.tw"
expect variants "--only=models --seconds=0.02 --details=$out/variants.jsonl c.tw"
expect products "--only=products --samples=15"
expect generated "--only=generated --samples=20"
[[ $(grep -c ': status 0, after ' "$TEST_TMPDIR/log") == 13 ]] || { cat "$TEST_TMPDIR/log"; failed=1; }
rm -r "$out"
"$on_gpu" "$check" "$out" a.tw > /dev/null || failed=1
[[ ! -e $out/variants.md ]] || { echo "FAILED: variants without any"; failed=1; }
"$on_gpu" "$check" > /dev/null
[[ $? == 2 ]] || { echo "FAILED: no models are bad usage"; failed=1; }
exit $failed
