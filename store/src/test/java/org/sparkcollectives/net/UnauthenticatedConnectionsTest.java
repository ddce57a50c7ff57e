package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which connection is displaced by a new one. */
class UnauthenticatedConnectionsTest {

  private final UnauthenticatedConnections connections = new UnauthenticatedConnections(3);
  private final List<String> closed = new ArrayList<>();

  private Channel from(String host, String name) {
    Channel channel =
        new EmbeddedChannel() {
          @Override
          public SocketAddress remoteAddress() {
            return new InetSocketAddress(host, 1000 + name.charAt(0));
          }
        };
    connections.add(channel, () -> closed.add(name));
    return channel;
  }

  @Test
  void theOldestOfTheAddressWithTheMostMakesRoom() {
    from("10.0.0.1", "a");
    from("10.0.0.2", "b");
    from("10.0.0.2", "c");
    assertThat(closed).isEmpty();
    from("10.0.0.2", "d");
    from("10.0.0.2", "e");
    assertThat(closed).containsExactly("b", "c");
    from("10.0.0.3", "f");
    assertThat(closed).containsExactly("b", "c", "d");
  }

  @Test
  void ofAddressesWithTheSameNumberTheOneThatCameFirstMakesRoom() {
    from("10.0.0.1", "a");
    from("10.0.0.2", "b");
    from("10.0.0.3", "c");
    from("10.0.0.4", "d");
    assertThat(closed).containsExactly("a");
  }

  @Test
  void oneThatIsRemovedCountsNoMoreAlsoIfItIsRemovedTwice() {
    Channel first = from("10.0.0.1", "a");
    from("10.0.0.1", "b");
    from("10.0.0.1", "c");
    connections.remove(first);
    connections.remove(first);
    from("10.0.0.1", "d");
    assertThat(closed).isEmpty();
    from("10.0.0.1", "e");
    assertThat(closed).containsExactly("b");
  }
}
