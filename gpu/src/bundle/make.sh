#!/usr/bin/env bash
# make.sh [FILE]: packs the tests of the GPU and the benchmark with a small Java runtime into FILE
# (gpu/target/gpu-bundle.tar.xz), for a Linux x86-64 machine that has a GPU and its driver but
# neither Java nor a network. What it takes from that machine is libcuda, libnccl, and glibc 2.34 or
# later. Run there: tar xf gpu-bundle.tar.xz && gpu-bundle/run.sh; where there is no xz,
# python3 -m tarfile -e gpu-bundle.tar.xz unpacks it.
#
# Needs a JDK 17 or later with jlink, zip, unzip and xz; it runs ./mvnw package itself.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=$root/gpu/target
file=${1:-$target/gpu-bundle.tar.xz}
java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}

rm -rf "$target/dependency"
"$root/mvnw" -q -f "$root/pom.xml" -pl gpu -am -DskipTests package \
  dependency:copy-dependencies

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/gpu-bundle
mkdir -p "$bundle/lib"

# Of the dependencies those that the tests reach; of the natives only those of this platform.
for jar in "$target"/spark-collectives-gpu-*.jar "$target"/dependency/*.jar; do
  case $(basename "$jar") in
    byte-buddy* | *aarch_64.jar | *-sources.jar | *-javadoc.jar) ;;
    jcuda-natives-*) (cd "$work" && unzip -q -o "$jar" 'lib/libJCudaDriver-*') ;;
    jna-*)
      cp "$jar" "$bundle/lib/"
      zip -q -d "$bundle/lib/$(basename "$jar")" 'com/sun/jna/*/libjnidispatch.*' \
        'com/sun/jna/*/jnidispatch.dll' > /dev/null
      (cd "$work" && unzip -q -o "$jar" 'com/sun/jna/linux-x86-64/*')
      ;;
    *) cp "$jar" "$bundle/lib/" ;;
  esac
done
(cd "$work" && zip -q -r "$bundle/lib/natives.jar" lib com)

modules=java.base,java.logging,java.management,java.naming,java.xml,jdk.net,jdk.unsupported,jdk.zipfs
"$java_home/bin/jlink" --add-modules "$modules" \
  --compress=0 --strip-debug --no-header-files --no-man-pages --output "$bundle/runtime"
cp "$here/run.sh" "$here/peers.py" "$bundle/"

mkdir -p "$(dirname "$file")"
tar -C "$work" -cf - gpu-bundle | xz -9 -T0 > "$file"
size=$(stat -c %s "$file")
echo "$file: $((size / 1000000)).$((size / 100000 % 10)) MB"
if [ "$size" -ge 30000000 ]; then
  echo "It should be less than 30 MB" >&2
  exit 1
fi
