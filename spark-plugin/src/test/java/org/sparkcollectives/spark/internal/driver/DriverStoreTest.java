package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.testing.Threads;

/** Tests that no client waits for a reply that the driver could not send. */
@Timeout(120)
class DriverStoreTest {

  private static final String LOST = "could not send its reply";

  private final TestDriver driver = new TestDriver("1g");
  private final WatchableStore client = driver.connect(new StageAttempt(3, 0));

  @AfterEach
  void close() {
    client.close();
    driver.close();
  }

  @Test
  void aReplyThatCannotBeSentIsAnError() {
    client.set("key", new byte[] {1});
    driver.failNextReply(new OutOfMemoryError("no heap"));
    assertThatThrownBy(() -> client.get("key"))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(LOST)
        .hasMessageContaining("no heap");
    assertThat(client.get("key")).containsExactly(1);
  }

  @Test
  void aLateReplyThatCannotBeSentIsAnError() throws Exception {
    CompletableFuture<byte[]> waiting = client.watch("later");
    driver.failNextReply(new OutOfMemoryError("no heap"));
    client.set("later", new byte[] {1});
    assertThat(Threads.failure(waiting))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(LOST);
  }

  @Test
  void aRankIsToldTheRackOfItsHost() {
    assertThat(driver.connect(new StageAttempt(4, 0)).rack("node1"))
        .succeedsWithin(Duration.ofMinutes(1))
        .isEqualTo("/rack-of-node1");
  }
}
