package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.testing.Threads;

/** Tests the keys of a run, which belong to the replicas of a call and not to a stage. */
@Timeout(120)
class RunStoreTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private final TestDriver driver = new TestDriver("1g");
  private final String run = driver.store().runs().begin(1);

  @AfterEach
  void close() {
    driver.close();
  }

  private DriverStoreClient replica(int number, long incarnation) {
    return driver.connect(new RunRequest(run, number, STAGE, incarnation, "host", "1"));
  }

  @Test
  void replicasOfARunSeeTheSameKeysAndThoseOfAnotherDoNot() {
    replica(0, 7).set("key", new byte[] {1});
    assertThat(replica(1, 8).get("key")).containsExactly(1);
    String other = driver.store().runs().begin(1);
    assertThat(driver.connect(new RunRequest(other, 0, STAGE, 9, "host", "1")).listKeys())
        .isEmpty();
    assertThat(driver.connect(STAGE).listKeys()).isEmpty();
  }

  @Test
  void theKeysOutliveTheStageAndGoWithTheRun() {
    replica(0, 7).set("key", new byte[] {1});
    driver.store().stageEnded(STAGE, false);
    assertThat(
            driver
                .connect(new RunRequest(run, 0, new StageAttempt(3, 1), 8, "host", "1"))
                .listKeys())
        .containsExactly("key");
    driver.store().runs().close(run, "");
    assertThat(driver.store().table().count("")).isZero();
    assertThat(driver.store().clients().count()).isZero();
  }

  @Test
  void replicasGoOnWhenTheAttemptOfTheirStageHasEnded() {
    DriverStoreClient replica = replica(0, 7);
    CompletableFuture<byte[]> watched = replica.watch("key");
    driver.store().clients().stageOver(STAGE);
    replica(1, 8).set("key", new byte[] {1});
    assertThat(watched.join()).containsExactly(1);
  }

  @Test
  void aLaterIncarnationFencesOffTheOneBefore() throws Exception {
    DriverStoreClient first = replica(0, 7);
    DriverStoreClient other = replica(1, 8);
    CompletableFuture<byte[]> waiting = first.watch("never");
    DriverStoreClient second = replica(0, 9);

    String why = "task 7 as replica 0 of run " + run + ": task 9 has begun in its place";
    assertThatThrownBy(() -> first.set("key", new byte[] {1}))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(why);
    assertThatThrownBy(() -> first.set("large", new byte[1 << 20])).hasMessageContaining(why);
    assertThat(Threads.failure(waiting)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> replica(0, 7)).hasMessageContaining(why);

    second.set("key", new byte[] {2});
    assertThat(other.get("key")).containsExactly(2);
  }

  @Test
  void aReplicaThatComesAfterTheEndIsRefused() {
    driver.store().runs().close(run, "");
    assertThatThrownBy(() -> replica(0, 7))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("Run " + run + " is over");
  }
}
