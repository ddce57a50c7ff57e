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

/** Tests which peers a rank says that it is connecting to. */
class RankConnectorTest {

  private final List<CompletableFuture<Channel>> attempts = new ArrayList<>();
  private final RankConnector ranks =
      new RankConnector(
          (target, setup) -> {
            attempts.add(new CompletableFuture<>());
            return attempts.get(attempts.size() - 1);
          },
          "group",
          0,
          new byte[32],
          Ranks.membership(0, 4).endpoints(),
          peer -> null);

  private void connect(int peer, ConnectionKind kind) {
    ranks.connect(peer, kind, pipeline -> {});
  }

  @Test
  void aPeerIsNamedUntilAllConnectionsToItAreMade() {
    connect(3, ConnectionKind.collectives(0));
    connect(1, ConnectionKind.MESSAGES);
    connect(1, ConnectionKind.collectives(1));
    assertThat(ranks.connectingTo()).containsExactly(1, 3);
    attempts.get(1).complete(new EmbeddedChannel());
    assertThat(ranks.connectingTo()).containsExactly(1, 3);
    attempts.get(2).complete(new EmbeddedChannel());
    assertThat(ranks.connectingTo()).containsExactly(3);
  }

  @Test
  void aConnectionThatFailsOrIsGivenUpIsNotBeingMade() {
    connect(1, ConnectionKind.collectives(0));
    connect(2, ConnectionKind.collectives(0));
    attempts.get(0).completeExceptionally(new TransportException("refused", 1, "", null));
    attempts.get(1).cancel(false);
    assertThat(ranks.connectingTo()).isEmpty();
  }
}
