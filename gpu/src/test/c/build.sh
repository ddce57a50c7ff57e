#!/usr/bin/env bash
# build.sh DIRECTORY [JCUDA_DRIVER_LIBRARY]: compiles the fake into DIRECTORY, see README.md.
# NCCL_FAKE_VERSION, such as 22304, leaves out what that version of NCCL has not.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target=$1
jcuda=${2:-}
mkdir -p "$target"
work=$(mktemp -d "$target/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

flags=(-std=gnu11 -O2 -g -fPIC -fvisibility=default -Wall -Wextra -Werror -pthread
  "-DNCCL_FAKE_VERSION=${NCCL_FAKE_VERSION:-22809}")
objects=()
for source in "$here"/*.c; do
  object=$work/$(basename "$source" .c).o
  gcc "${flags[@]}" -c "$source" -o "$object"
  objects+=("$object")
done

# What JCuda's library names and the fake has not answers CUDA_ERROR_NOT_SUPPORTED: without the
# symbol a call would end the process.
if [ -n "$jcuda" ]; then
  nm --defined-only "${objects[@]}" | awk '$2 == "T" {print $3}' | sort -u > "$work/defined"
  nm -D --undefined-only "$jcuda" | awk '{print $2}' | grep -E '^cu[A-Z]' | sort -u > "$work/wanted"
  comm -23 "$work/wanted" "$work/defined" |
    sed 's/.*/int &(void); int &(void) { return 801; }/' > "$work/stubs.c"
  gcc "${flags[@]}" -c "$work/stubs.c" -o "$work/stubs.o"
  objects+=("$work/stubs.o")
fi

echo '{ global: cu[A-Z]*; nccl*; fakeLive; local: *; };' > "$work/exported"
gcc -shared -pthread -Wl,-soname,libfakegpu.so "-Wl,--version-script=$work/exported" \
  -o "$work/libfakegpu.so" "${objects[@]}" -lm
mv "$work/libfakegpu.so" "$target/libfakegpu.so"
ln -sf libfakegpu.so "$target/libcuda.so.1"
ln -sf libfakegpu.so "$target/libnccl.so.2"
