# Sourced by the examples' scripts, in the root of the repository. Builds what is missing or older than its sources; then
# `submit CLASS [argument ...]` runs a program of the examples in a Spark cluster of separate processes, in place of this shell.
# `measure FILE [argument ...]` runs a program of src/main/comparison, which starts ranks itself.
# The cluster has 2 executors with 2 cores each, unless $master is set. If $djl is set, the program has DJL with PyTorch, which is
# built in for such programs only.
djl=${djl:-}
master=

root=$PWD
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') || version=
if [ "${version:-0}" -lt 17 ]; then
  echo "A JDK 17 or later is needed; $java is ${version:-not there}. Set JAVA_HOME." >&2
  exit 1
fi

# The jars' sources: whatever is newer than the example's jar means that it is to be built again.
changed() {
  find pom.xml store collectives spark-plugin examples -newer "$1" \
    \( -name '*.java' -o -name pom.xml -o -path '*/src/main/*' \) \
    ! -path '*/target/*' ! -path '*/src/test/*' -type f -print | head -n 1
}
jar() { ls "$root/$1"/target/"$2"-*.jar 2>/dev/null | grep -v -e original -e tests -e sources -e javadoc | head -n 1; }
if [ -z "$(jar examples spark-collectives-examples)" ] ||
  [ -z "$(jar spark-plugin spark-collectives_2.13)" ] || [ ! -d examples/target/spark/jars ] ||
  [ -n "$(changed "$(jar examples spark-collectives-examples)")" ] || { [ -n "$djl" ] && [ ! -d examples/target/djl/jars ]; }; then
  echo "Building (a few minutes the first time, for downloads) ..." >&2
  ./mvnw --quiet -DskipTests ${djl:+-Pdjl} -pl examples -am package
fi

SPARK_HOME="$root/examples/target/spark"
SPARK_SCALA_VERSION=2.13
SPARK_LOCAL_IP="${SPARK_LOCAL_IP:-127.0.0.1}"
export SPARK_HOME SPARK_SCALA_VERSION SPARK_LOCAL_IP

submit() {
  class=$1
  shift
  logging="-Dlog4j2.configurationFile=file:$root/examples/src/main/conf/log4j2.properties"
  jars=$(jar spark-plugin spark-collectives_2.13)
  options="'$logging'"
  if [ -n "$djl" ]; then
    # The engine unpacks itself into the cache, and downloads nothing.
    for each in examples/target/djl/jars/*.jar; do jars="$jars,$root/$each"; done
    options="$options -Dai.djl.offline=true '-DDJL_CACHE_DIR=$root/examples/target/djl/cache' -Dai.djl.pytorch.num_threads=1"
  fi
  set -- "$logging" -cp "$SPARK_HOME/jars/*" org.apache.spark.deploy.SparkSubmit \
    --master "${master:-local-cluster[2,2,1024]}" \
    --class "$class" \
    --jars "$jars" \
    --conf spark.plugins=org.sparkcollectives.spark.CollectivesPlugin \
    --conf spark.ui.enabled=false \
    --conf "spark.executor.extraJavaOptions=$options" \
    "$(jar examples spark-collectives-examples)" "$@"

  # What Spark's own scripts open of the JDK.
  for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util \
    java.util.concurrent java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs \
    sun.security.action sun.util.calendar; do
    set -- "--add-opens=java.base/$package=ALL-UNNAMED" "$@"
  done
  exec "$java" "$@"
}

measure() {
  if ! command -v python3 >/dev/null; then
    echo "This needs Python 3, which is not on the PATH." >&2
    exit 1
  fi
  program=$1
  shift
  COLLECTIVES_JAVA=$java
  COLLECTIVES_CLASS_PATH="$(jar examples spark-collectives-examples):$(jar spark-plugin spark-collectives_2.13):$SPARK_HOME/jars/*"
  export COLLECTIVES_JAVA COLLECTIVES_CLASS_PATH
  exec python3 "examples/src/main/comparison/$program" "$@"
}
