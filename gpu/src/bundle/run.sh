#!/usr/bin/env bash
# run.sh [tests | benchmark] [ARGUMENTS]: runs the tests of the GPU, or the benchmark, of this
# bundle. See make.sh for what the machine must have. NCCL is looked for as the library does it; set
# SPARK_COLLECTIVES_NCCL_LIBRARY if it is elsewhere.
#   run.sh tests '.*Kernels.*'    only classes of such names
#   run.sh benchmark quick        only to see that it runs
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
what=${1:-tests}
shift || true
case $what in
  tests) main=org.sparkcollectives.gpu.testing.GpuTestProgram ;;
  benchmark) main=org.sparkcollectives.gpu.benchmark.GpuBenchmark ;;
  *)
    echo "run.sh [tests | benchmark] [ARGUMENTS]" >&2
    exit 2
    ;;
esac

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
if command -v nvidia-smi > /dev/null; then
  nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.width.max --format=csv
fi
"$here/runtime/bin/java" -Xmx2g "-Djava.io.tmpdir=$temporary" "-Djna.tmpdir=$temporary" \
  -cp "$here/lib/*" "$main" "$@"
