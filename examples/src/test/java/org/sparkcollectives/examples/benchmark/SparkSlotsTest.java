package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkSlotsTest {

  private static int executors(String master, String instances) {
    SparkConf conf = new SparkConf(false).setMaster(master);
    return SparkSlots.executors(
        instances == null ? conf : conf.set("spark.executor.instances", instances));
  }

  @Test
  void theExecutorsAreThoseThatWereAskedFor() {
    assertThat(executors("local-cluster[2,8,1024]", null)).isEqualTo(2);
    assertThat(executors("local-cluster[ 16 , 1, 512]", null)).isEqualTo(16);
    assertThat(executors("yarn", "50")).isEqualTo(50);
  }

  @Test
  void theirNumberMayBeUnknown() {
    assertThat(executors("spark://master:7077", null)).isZero();
    assertThat(executors("local[4]", null)).isZero();
  }
}
