package org.sparkcollectives.ml.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.ml.internal.stage.BarrierFit;

@ExtendWith(LocalCluster.class)
class LocalClusterTest {

  @Test
  void aStageHasOneRankForEachSlot(SparkSession spark) {
    int ranks =
        new BarrierFit("test")
            .run(
                spark.range(10).toDF().repartition(7),
                row -> row.getLong(0),
                (world, rows) -> java.util.List.of(world.size()).iterator());

    assertThat(ranks).isEqualTo(LocalCluster.SLOTS);
  }
}
