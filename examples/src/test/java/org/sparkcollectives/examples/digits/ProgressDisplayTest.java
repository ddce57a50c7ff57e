package org.sparkcollectives.examples.digits;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.Store;

/** What is shown of the epochs that rank 0 reports. */
class ProgressDisplayTest {

  @Test
  void aStageThatIsTriedAgainReplacesWhatItHadShown() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SparkConf conf = new SparkConf(false).set("spark.driver.host", "127.0.0.1");
    try (ProgressFeed.Server server = ProgressFeed.serve(conf);
        Store rank = server.feed().connect()) {
      CompletableFuture<List<Epoch>> shown =
          new ProgressDisplay(server, 3, new PrintStream(out, true, UTF_8)).start();
      List<Epoch> again =
          List.of(new Epoch(1, 0.5, 0.6), new Epoch(2, 0.4, 0.7), new Epoch(3, 0.3, 0.8));
      ProgressFeed.push(rank, new Epoch(1, 9, 0));
      ProgressFeed.push(rank, new Epoch(2, 9, 0));
      again.forEach(epoch -> ProgressFeed.push(rank, epoch));
      assertThat(shown.get(30, TimeUnit.SECONDS)).isEqualTo(again);
    }
    assertThat(out.toString(UTF_8))
        .containsSubsequence("epoch   1", "0.5000", "epoch   2", "epoch   3", "0.8000")
        .doesNotContain("9.0000");
  }
}
