#!/usr/bin/env bash
# run.sh [tests | benchmark | peers] [ARGUMENTS]: runs the tests of the GPU, the benchmark of this
# bundle, or a comparison with PyTorch, where python3 has one that finds the GPU. See make.sh for what the machine must have. NCCL is looked for as the library does it, and
# among the packages of python3; set SPARK_COLLECTIVES_NCCL_LIBRARY if it is elsewhere.
#   run.sh tests '.*Kernels.*'    only classes of such names
#   run.sh benchmark quick        only to see that it runs; also: peers quick
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
what=${1:-tests}
shift || true
case $what in
  tests) main=org.sparkcollectives.gpu.testing.GpuTestProgram ;;
  benchmark) main=org.sparkcollectives.gpu.benchmark.GpuBenchmark ;;
  peers) main= ;;
  *)
    echo "run.sh [tests | benchmark | peers] [ARGUMENTS]" >&2
    exit 2
    ;;
esac

# In a container the driver may lie where the dynamic linker does not look.
if ! PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | grep -F libcuda.so.1 > /dev/null; then
  for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib; do
    if [ -e "$folder/libcuda.so.1" ]; then
      export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
      break
    fi
  done
fi
# The python3 of the PATH may be one of an environment that nobody has activated.
if [ -z "${VIRTUAL_ENV:-}" ] && command -v python3 > /dev/null; then
  VIRTUAL_ENV=$(python3 -c 'import sys; print(sys.prefix)') && export VIRTUAL_ENV || unset VIRTUAL_ENV
fi

# Native libraries are unpacked beside the runtime, because /tmp may be mounted noexec. The options
# are also those of the JVMs that tests start.
temporary=$(mktemp -d "$here/tmp.XXXXXX" 2> /dev/null || mktemp -d)
trap 'rm -rf "$temporary"' EXIT
export JDK_JAVA_OPTIONS="\"-Djava.io.tmpdir=$temporary\" \"-Djna.tmpdir=$temporary\""

if command -v nvidia-smi > /dev/null; then
  nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.width.max --format=csv || true
fi
if [ "$what" = peers ]; then
  python3 "$here/peers.py" "$here/runtime/bin/java" -Xmx2g -cp "$here/lib/*" "${1:-all}"
else
  "$here/runtime/bin/java" -Xmx2g -cp "$here/lib/*" "$main" "$@"
fi
