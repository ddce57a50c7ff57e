package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.net.ConnectionId;

/** Tests which peers a rank is still connecting to. */
class PendingConnectionsTest {

  private final List<CompletableFuture<Channel>> attempts = new ArrayList<>();
  private final PendingConnections pending =
      new PendingConnections(
          (target, setup) -> {
            attempts.add(new CompletableFuture<>());
            return attempts.get(attempts.size() - 1);
          });

  private CompletableFuture<Channel> connect(int peer, ConnectionKind kind) {
    ConnectionId id = new ConnectionId("group", 0, peer, kind.code());
    return pending.connect(
        new Connector.Target(Ranks.membership(0, 4).endpoints().get(peer), id, new byte[32]),
        pipeline -> {});
  }

  @Test
  void aPeerIsPendingUntilAllConnectionsToItAreMade() {
    connect(3, ConnectionKind.collectives(0));
    connect(1, ConnectionKind.MESSAGES);
    connect(1, ConnectionKind.collectives(1));
    assertThat(pending.peers()).containsExactly(1, 3);
    attempts.get(1).complete(new EmbeddedChannel());
    assertThat(pending.peers()).containsExactly(1, 3);
    attempts.get(2).complete(new EmbeddedChannel());
    assertThat(pending.peers()).containsExactly(3);
  }

  @Test
  void aConnectionThatFailsOrIsGivenUpIsNotPending() {
    connect(1, ConnectionKind.collectives(0));
    CompletableFuture<Channel> givenUp = connect(2, ConnectionKind.collectives(0));
    attempts.get(0).completeExceptionally(new TransportException("refused", 1, "", null));
    givenUp.cancel(false);
    assertThat(attempts.get(1)).isCancelled();
    assertThat(pending.peers()).isEmpty();
  }
}
