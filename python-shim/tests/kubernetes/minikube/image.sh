#!/bin/bash
# image.sh FOLDER SPARK_HOME FILES: the layer of an image that lies over the files of this machine, with the jars and Python
# programs of the folder FILES. What is large are links, so the folder can be in memory. It must be a file system of its own:
# an overlay refuses layers of which one lies in the other. The input are folders of this machine which the user of the
# image, who is not root, must be able to enter.
set -e
image=$1 spark=$2 files=$3
here=$(cd "$(dirname "$0")" && pwd)
while read -r folder; do mkdir -p "$image$folder"; done
mkdir -p "$image/opt/spark/work-dir" "$image/opt/spark/conf" "$image/etc" "$image/usr/bin"
for part in jars bin python; do
  cp -rs "$spark/$part" "$image/opt/spark/"
done
rm "$image"/opt/spark/bin/*
cp "$spark"/bin/* "$image/opt/spark/bin/" # the scripts look for their home beside themselves
cp "$files"/*.jar "$image/opt/spark/jars/"
cp "$files"/*.py "$image/opt/spark/work-dir/"
cp "$here/entrypoint.sh" "$here/decom.sh" "$image/opt/"
chmod 755 "$image"/opt/*.sh
chmod 777 "$image/opt/spark/work-dir"
{ cat /etc/passwd; echo "spark:x:185:0::/opt/spark:/bin/sh"; } > "$image/etc/passwd"
