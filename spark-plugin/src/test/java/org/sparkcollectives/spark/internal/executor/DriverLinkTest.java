package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;

/** Tests how long a task waits for the driver. */
@Timeout(120)
class DriverLinkTest {

  private final CompletableFuture<byte[]> reply = new CompletableFuture<>();

  private final DriverLink link = new AnsweringLink(message -> reply);

  private byte[] ask(Duration atMost) {
    return link.ask(new byte[0], atMost);
  }

  @Test
  void aDriverThatDoesNotAnswerIsWaitedForNoLongerThanAsked() {
    assertThatThrownBy(() -> ask(Duration.ofMillis(20)))
        .isInstanceOf(StoreConnectionException.class)
        .hasMessage("The driver's store at driver:1 did not answer within 20 ms");
  }

  @Test
  void whatTheDriverRefusesIsAStoreException() {
    reply.completeExceptionally(new StoreException("a later attempt has begun"));
    assertThatThrownBy(() -> ask(Duration.ofMinutes(1)))
        .isExactlyInstanceOf(StoreException.class)
        .hasMessage("a later attempt has begun");
  }

  @Test
  void aDriverThatIsLostIsAStoreExceptionOfItsOwn() {
    reply.completeExceptionally(new StoreConnectionException("lost"));
    assertThatThrownBy(() -> ask(Duration.ofMinutes(1)))
        .isExactlyInstanceOf(StoreConnectionException.class)
        .hasMessage("lost");
  }

  @Test
  void anInterruptEndsTheWaitAndStaysPending() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> ask(Duration.ofMinutes(1))).isInstanceOf(StoreException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aReplyThatComesInTimeIsReturned() {
    reply.complete(new byte[] {7});
    assertThat(ask(Duration.ofMinutes(1))).containsExactly(7);
  }
}
