package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.CollectivesPlugin;

/** Tests what a user is told who has no driver's store. */
class DriverStoreClientTest {

  @Test
  void theAdviceNamesThePluginAsSparkLoadsIt() {
    assertThat(DriverStoreClient.INSTALL)
        .endsWith("spark.plugins=" + CollectivesPlugin.class.getName());
  }
}
