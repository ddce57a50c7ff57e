#!/bin/bash
# cluster.sh FOLDER SPARK_HOME CLASSES PREFIX ROOMS FILES: MiniKube, whose image has Spark and the files of a folder. It
# runs in namespaces that `unshare --net --mount --pid --fork --kill-child --mount-proc` has made, and the image is seen
# there only. CLASSES is the class path of MiniKube without Spark.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 spark=$2 classes=$3 prefix=$4 rooms=$5 files=$6
mkdir -p "$folder/pods" "$folder/image"
mount -t tmpfs tmpfs /run # where ip keeps the names of network namespaces
mount -t tmpfs -o mode=755 tmpfs "$folder/image"
"$here/image.sh" "$folder/image" "$spark" "$files" < "$folder/readable"
exec "$JAVA_HOME/bin/java" -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$classes:$spark/jars/*" \
  "-Dpod.script=$here/pod.sh" MiniKube "$folder" "$folder/image" "$prefix" "$rooms"
