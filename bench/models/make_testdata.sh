#!/bin/bash
# Makes testdata again. Usage: bench/models/make_testdata.sh LIBONNXRUNTIME.SO.1
set -euo pipefail
ort="$(realpath "${1:?usage: $0 LIBONNXRUNTIME.SO.1 (see bench/ort/README.md)}")"
cd "$(dirname "$0")/../.."

bench/models/export.py --out=testdata resnet18_small mlp64_small mlp_odd
bench/models/make_tiny.py --out=testdata/tiny
bench/models/make_bad.py --out=testdata
./bazelw run //bench/ort:ort_main -- --ort="$ort" --record \
    testdata/resnet18_small testdata/mlp64_small testdata/mlp_odd \
    testdata/tiny/* testdata/external/*
