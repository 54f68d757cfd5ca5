#!/bin/bash
# table_test.sh TABLE: a made-up run becomes both tables, in their places and equal.
set -u
readonly table="$PWD/$1" work="${TEST_TMPDIR:?}"
failures=0

check() {
  local what="$1"
  shift
  "$@" || { echo "FAIL: $what"; failures=$((failures + 1)); }
}

has() { grep -qF -- "$2" "$work/$1"; }
lacks() { ! has "$@"; }

python3 - "$work/runs.jsonl" <<'P'
import json, sys

def side(wall, cpu, quiet):
    return {"min_wall_ms": wall, "median_wall_ms": 2 * wall, "min_cpu_ms": cpu,
            "median_cpu_ms": 2 * cpu, "quiet_runs": quiet, "runs": 4}

def line(name, threads, own, peer, allow="", commit="new", ok=True):
    stamp = {"commit": commit, "host": "AMD Zen 9", "cores": 2, "threads": "1,2",
             "seconds": 3, "huge_pages": "none"}
    return {"stamp": stamp, "name": name, "date": "2026-01-02", "threads": threads,
            "allow": allow, "connect": "register", "onnxruntime_version": "9.8",
            "gflop": 1.5, "peak_percent": 80, "huge_bytes": 1 << 21,
            "onnxruntime_huge_bytes": 1 << 22, "compile_cpu_s": 1.25, "error": 1e-6,
            "onnxruntime_error": 1e-6, "error_limit": 64e-6 if allow else 4e-6,
            "plain_error_limit": 4e-6, "verified_ok": ok,
            "own": side(own, own, 4), "onnxruntime": side(peer, peer, 2),
            "speed_of_onnxruntime": peer / own}

with open(sys.argv[1], "w") as file:
    for record in [line("vgg16", 1, 1, 100, commit="old"),
                   line("vgg16", 1, 10, 80), line("vgg16", 2, 5, 40),
                   line("vgg16", 1, 8, 80, "winograd4"), line("vgg16", 2, 4, 40, "winograd4"),
                   line("resnet18", 1, 20, 40), line("resnet18", 2, 10, 20)]:
        file.write(json.dumps(record) + "\n")
P
for file in readme details; do
  printf 'before\n%s\nwhat stood here\n%s\nafter\n' '<!-- begin of what bench/compare/table.py wrote -->' \
    '<!-- end of what bench/compare/table.py wrote -->' >"$work/$file"
done
cp "$work/readme" "$work/unchanged"

make() { python3 "$table" --replay --runs="$work/runs.jsonl" --readme="$work/readme" --details="$work/details" "$@"; }

make >"$work/printed" || { echo "FAIL: printing"; failures=$((failures + 1)); }
check "files are written without --write" cmp -s "$work/readme" "$work/unchanged"
make --write >"$work/printed" || { echo "FAIL: writing"; failures=$((failures + 1)); }
for file in readme details; do
  check "$file: the old text is left" lacks "$file" 'what stood here'
  check "$file: text outside of the marks" test "$(sed -n '1p;$p' "$work/$file" | tr '\n' ' ')" == "before after "
  check "$file: the machine" has "$file" '2 cores of a shared AMD Zen 9'
  check "$file: the memory" has "$file" 'Huge pages for neither side'
  check "$file: the quiet runs" has "$file" '75 % of the runs were quiet'
  # Geometric mean of 8 and 2, without the row that allows winograd4 and without the older run.
  check "$file: the mean" has "$file" 'Geometric means 4.00 at 1 thread (lowest 2.00, ResNet-18), 4.00 at 2 threads'
  check "$file: the marked row" grep -q '^| VGG-16, `--allow=winograd4` |' "$work/$file"
  check "$file: the older run" lacks "$file" '100.00'
done
check "README's row" has readme '| ResNet-18 | 20.0 | 40.0 | 2.00 | 75 % | 10.0 | 20.0 | 2.00 | 75 % |'
check "zoo.md's row" has details '| ResNet-18 | 1.500 | 20.0 / 40.0 | 40.0 / 80.0 | 2.00 | 80 % | 4 of 4, 2 of 4 | 2, 4 | 1.25 |'
check "zoo.md's limit" has details '| 1.00e-06 | 1.00e-06 | 4.00e-06 |'
check "zoo.md's limit under --allow" has details '| 1.00e-06 | 1.00e-06 | 6.40e-05 (4.00e-06) |'
cp "$work/readme" "$work/once"
make --write >"$work/printed"
check "written twice, it is another text" cmp -s "$work/readme" "$work/once"

# An error above its limit is said and is the exit status.
sed -i '$s/"verified_ok": true/"verified_ok": false/' "$work/runs.jsonl"
make >"$work/printed"
check "an exceeded limit gives no 1" test $? == 1
check "an exceeded limit is not said" has printed EXCEEDED

# A file without the marks is left alone, and named.
echo nothing >"$work/readme"
make --write >"$work/printed" 2>"$work/stderr"
check "no marks do not give 2" test $? == 2
check "the file is not named" has stderr "$work/readme does not have"

# The names of machines.
python3 - "$table" <<'P' || { echo "FAIL: host classes"; failures=$((failures + 1)); }
import importlib.util, sys
spec = importlib.util.spec_from_file_location("table", sys.argv[1])
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)

def info(vendor, family, model, flags):
    return f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nflags\t\t: {flags}\n"

zen4 = table.host_class(info("AuthenticAMD", 25, 17, "avx512f avx512_vnni avx512_bf16 hypervisor"))
assert zen4 == "AMD Zen 4 (family 25, model 17, virtual): AVX-512, AVX-512 VNNI, AVX-512 BF16, no AMX", zen4
spr = table.host_class(info("GenuineIntel", 6, 143, "avx512f avx512_vnni avx512_bf16 amx_tile"))
assert spr == "Intel Sapphire Rapids (family 6, model 143): AVX-512, AVX-512 VNNI, AVX-512 BF16, AMX", spr
odd = table.host_class(info("Other", 1, 2, "sse2"))
assert odd == "Other of unknown class (family 1, model 2): no AVX-512, no AVX-512 VNNI, no AVX-512 BF16, no AMX", odd
P

echo "$failures failures"
exit $((failures > 0))
