#!/usr/bin/env bash
# Compiles the kernels to the PTX that lies among the resources. Run by hand after a change of a
# kernel, and committed with it; a build only compares the stamps.
#
# Needs nvcc 13 (CUDA_HOME, or nvcc on the PATH). Without a toolkit, in a virtual environment:
#   pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-cccl nvidia-cuda-runtime nvidia-nvvm
#   CUDA_HOME=.../site-packages/nvidia/cu13 ./compile.sh
# PTXAS, if set, lists further assemblers, such as that of CUDA 12 for sm_70.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target=$here/../resources/org/sparkcollectives/gpu/kernel
home=${CUDA_HOME:-$(dirname "$(dirname "$(command -v nvcc)")")}

# A driver accepts PTX up to its own version, and devices from the target on. nvcc of CUDA 13 knows
# no device below sm_75, but what it makes of these kernels is PTX of CUDA 11.7 that sm_70
# has too; the assembler has the last word.
version=7.7
sm=70

mkdir -p "$target"
for source in "$here"/*.cu; do
  name=$(basename "$source" .cu)
  "$home/bin/nvcc" --ptx -O3 --fmad=false -std=c++17 -arch=compute_75 \
    -I "$home/include" -I "$here" -o "$target/$name.ptx.new" "$source"
  {
    echo "// Made by compile.sh of $name.cu; not to be edited."
    echo "// sources sha256: $(cat "$here/element.cuh" "$source" | sha256sum | cut -d' ' -f1)"
    grep -v '^//' "$target/$name.ptx.new" | sed '/./,$!d' |
      sed "s/^\.version .*/.version $version/; s/^\.target .*/.target sm_$sm/"
  } > "$target/$name.ptx"
  rm "$target/$name.ptx.new"
  for arch in sm_75 sm_80 sm_86 sm_90 sm_100; do
    "$home/bin/ptxas" -arch=$arch -o /dev/null "$target/$name.ptx"
  done
  for assembler in ${PTXAS:-}; do
    "$assembler" -arch=sm_70 -o /dev/null "$target/$name.ptx"
  done
done
grep -c '\.entry' "$target"/*.ptx
