#!/bin/bash
# Gives the JVMs of a Databricks cluster the jars, before they start: a cluster-scoped init script, which lies in the
# same folder of a volume as the jars. docs/operate/databricks.md says more.
#
# COLLECTIVES_LIBRARIES  that folder; a variable of the cluster
# COLLECTIVES_JARS       the folder of the runtime's own jars
set -euo pipefail
from=${COLLECTIVES_LIBRARIES:-/Volumes/main/default/libraries}
to=${COLLECTIVES_JARS:-/databricks/jars}
cp "$from/spark-collectives_2.13-0.1.0-SNAPSHOT.jar" "$from/spark-collectives-ml-0.1.0-SNAPSHOT.jar" "$to/"
