#!/bin/bash
# c_api_test.sh TILEWRIGHT PROGRAM: a C program runs a model that was compiled
# for any x86-64-v2 machine.
set -eu
readonly compiled="${TEST_TMPDIR:?}/gemm_relu.tw"
"$1" compile testdata/tiny/gemm_relu/model.onnx -o "$compiled" --target=cpu:x86-64-v2
"$2" "$compiled"
