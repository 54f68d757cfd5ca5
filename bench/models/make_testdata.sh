#!/bin/bash
# Makes testdata again. Usage: bench/models/make_testdata.sh LIBONNXRUNTIME.SO.1
set -euo pipefail
ort="$(realpath "${1:?usage: $0 LIBONNXRUNTIME.SO.1 (see bench/ort/README.md)}")"
cd "$(dirname "$0")/../.."

small=(resnet18 resnet50 mobilenet_v2 vgg16 bert convnext swin vit nerf nafnet conformer mobilevit restormer bsrn unet mlp64)
bench/models/export.py --out=testdata "${small[@]/%/_small}" mlp_odd
bench/models/export.py --out=testdata --precision=fp16 mobilenet_v2_small bert_small
bench/models/export.py --out=testdata --precision=int8 resnet18_small
bench/models/make_tiny.py --out=testdata/tiny
bench/models/make_bad.py --out=testdata
./bazelw run //bench/ort:ort_main -- --ort="$ort" --record \
    testdata/*_small* testdata/mlp_odd \
    testdata/tiny/* testdata/external/*
