#!/bin/bash
# All that this project wants to know of an NVIDIA GPU, in about six minutes.
#
#   bench/gpu/on_gpu.sh GPU_CHECK OUT MODEL.tw... [-- VARIANT.tw...]
#
# GPU_CHECK is //tools:gpu_check, built anywhere; MODELs are compiled for the GPU
# (bench/models/repeat_weights.py makes them small to copy), VARIANTs of one kernel
# (product_variants.py). OUT gets tables, what each kernel took as JSON lines, and
# outputs for drawn inputs. What is not done in its time is left out.
set -u
if (( $# < 3 )); then
  sed -n '2,11s/^# \{0,1\}//p' "$0"
  exit 2
fi
check=$1
out=$2
shift 2
models=()
while (( $# > 0 )) && [[ $1 != -- ]]; do
  models+=("$1")
  shift
done
shift
variants=("$@")
mkdir -p "$out/outputs"

# part SECONDS NAME FLAGS...: into OUT/NAME.md.
part() {
  local seconds=$1 name=$2
  shift 2
  timeout "$seconds" "$check" "$@" > "$out/$name.md" 2> "$out/$name.err"
  echo "$name: status $?, after $SECONDS s"
}

# PyTorch compiles on the host while the suite runs on the GPU.
torch=$(dirname "$0")/../models/torch_times.py
if python3 -c 'import torch' 2> /dev/null; then
  (cd "$(dirname "$torch")" && exec python3 torch_times.py --deadline=110 resnet18 \
    resnet50 mobilenet_v2 bert_base vit_s swin_t convnext_tiny nerf_mlp mlp64 unet \
    vgg16 nafnet) > "$out/torch.md" 2> "$out/torch.err" &
fi
part 90 conformance --only=conformance
wait
part 60 models --only=models --details="$out/models.jsonl" \
  --outputs="$out/outputs" "${models[@]}"
if (( ${#variants[@]} > 0 )); then
  part 70 variants --only=models --details="$out/variants.jsonl" "${variants[@]}"
fi
part 60 products --only=products --samples=15
part 90 generated --only=generated --samples=20
part 60 hand_written --only=hand-written --no-modes --samples=20
exit 0
