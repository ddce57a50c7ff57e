package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.spark.rpc.RpcAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spi.HostedGroups;

/**
 * Tests that the driver's store reports no failure of a group that was made and closed normally.
 */
class MadeGroupTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private final TestDriver driver = new TestDriver("1g");

  @AfterEach
  void close() {
    driver.close();
  }

  /** Closes the group, but not the clients, of two ranks. */
  private List<DriverStoreClient> meetAndPart() {
    List<DriverStoreClient> clients = List.of(driver.connect(STAGE), driver.connect(STAGE));
    CompletableFuture.allOf(
            IntStream.range(0, 2)
                .mapToObj(
                    rank -> CompletableFuture.runAsync(() -> meetAndPart(clients.get(rank), rank)))
                .toArray(CompletableFuture<?>[]::new))
        .join();
    assertThat(keys()).isZero();
    return clients;
  }

  private static void meetAndPart(DriverStoreClient client, int rank) {
    GroupOptions options = GroupOptions.defaults().withName("world");
    try (ProcessGroup world =
        HostedGroups.create(client, rank, 2, options, new TestHost(client, rank))) {
      world.barrier().await();
    }
  }

  private long keys() {
    return driver.store().table().count(STAGE.keyPrefix());
  }

  @Test
  void tasksThatEndLeaveNothingInTheStore() {
    meetAndPart().forEach(DriverStoreClient::close);
    driver
        .store()
        .clients()
        .taskEnded(
            STAGE,
            new Failure(
                Failure.Kind.PEER_FINISHED,
                new RankLocation(0, "host", "1", 7),
                "",
                -1,
                "it returned"));
    assertThat(keys()).isZero();
  }

  @Test
  void anExecutorThatIsLostLeavesNothingInTheStore() {
    List<DriverStoreClient> clients = meetAndPart();
    driver.store().clients().disconnected(new RpcAddress("executor", 1));
    assertThat(keys()).isZero();
    clients.forEach(DriverStoreClient::close);
  }
}
