package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.CollectivesPlugin;
import org.sparkcollectives.spark.internal.protocol.JoinRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.Deadline;

/** Tests how long a task waits for the driver's store, and what a user is told who has none. */
class DriverStoreClientTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  /** A way to a driver that answers at once; notes for how long the answer may take. */
  private static final class PatientLink implements DriverLink {

    private Duration patience;

    @Override
    public CompletableFuture<byte[]> ask(byte[] message) {
      return CompletableFuture.completedFuture(new byte[0]);
    }

    @Override
    public <T> T reply(CompletableFuture<T> reply, Duration atMost) {
      patience = atMost;
      return reply.join();
    }

    @Override
    public byte[] fetch(byte[] reference) {
      throw new AssertionError("no value is large");
    }

    @Override
    public String address() {
      return "driver:1";
    }
  }

  @Test
  void checkpointsAreWaitedForUntilTheDeadlineOfTheCall() {
    Failure ifLost =
        new Failure(
            Failure.Kind.EXECUTOR_LOST, new RankLocation(0, "host", "1", 7), "", -1, "lost");
    PatientLink link = new PatientLink();
    JoinRequest request = new JoinRequest(new StageAttempt(1, 0), "", "world", ifLost);
    try (DriverStoreClient client = DriverStoreClient.connect(link, request, TIMEOUT)) {
      assertThat(link.patience).isEqualTo(TIMEOUT);
      client.checkpoints(Deadline.after(Duration.ofSeconds(30)));
      assertThat(link.patience).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(30));
      client.checkpoints(Deadline.after(Duration.ofHours(1)));
      assertThat(link.patience).as("the store's own timeout is less").isEqualTo(TIMEOUT);
    }
  }

  @Test
  void theAdviceNamesThePluginAsSparkLoadsIt() {
    assertThat(DriverStoreClient.INSTALL)
        .endsWith("spark.plugins=" + CollectivesPlugin.class.getName());
  }
}
