package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.SocketOption;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the operating system find out that nothing comes from a peer's host any more, though nobody
 * has closed the connection: the network between the two has failed, or the host.
 *
 * <p>When a connection has been idle for half of the time that is allowed, the system asks the
 * other one again and again, and breaks the connection when there was no answer in the other half.
 * What answers is the other system, not the process: one that hangs is not noticed by this.
 *
 * <p>Nothing is asked while data is on its way, which for a quarter of an hour may mean to send it
 * again. That is no gap: whoever receives on a connection sends next to nothing there, so at one
 * end it is idle. To bound that quarter of an hour ({@code TCP_USER_TIMEOUT}) would also break a
 * connection to a rank that is busy and for so long takes nothing in.
 */
final class KeepAlive {

  /** The number of probes, if there is time for them: a single one may get lost. */
  private static final int PROBES = 5;

  private static final int SHORTEST_SECONDS = 2;

  private KeepAlive() {}

  /**
   * Sets the options of a channel that has not been used yet.
   *
   * @param silence after which the connection breaks, rounded up to whole seconds, two at least; 0
   *     for never. Where the system has no such options, after its own
   */
  static void on(Channel channel, Duration silence) {
    if (silence.isZero()) {
      return;
    }
    int total = seconds(silence);
    int asking = total - total / 2;
    int interval = Math.max(1, asking / PROBES);
    int probes = asking / interval;
    int idle = total - probes * interval;
    ChannelConfig config = channel.config();
    config.setOption(ChannelOption.SO_KEEPALIVE, true);
    SystemOptions.set(
        config,
        Map.of("TCP_KEEPIDLE", idle, "TCP_KEEPINTERVAL", interval, "TCP_KEEPCOUNT", probes));
  }

  /** Returns the time in the unit in which the system counts. */
  private static int seconds(Duration duration) {
    long rounded = duration.plusSeconds(1).minusNanos(1).toSeconds();
    return (int) Math.max(SHORTEST_SECONDS, Math.min(Short.MAX_VALUE, rounded));
  }

  /**
   * Sets options that only the module {@code jdk.net} has. A Java that was linked without it has
   * the system's own times.
   */
  private static final class SystemOptions {

    private static final Logger LOG = LoggerFactory.getLogger(KeepAlive.class);

    private static final boolean PRESENT = present();

    private SystemOptions() {}

    private static boolean present() {
      try {
        option("TCP_KEEPIDLE");
        return true;
      } catch (ReflectiveOperationException e) {
        LOG.warn(
            "This Java lacks the module jdk.net, so the operating system probes idle connections"
                + " after its own time, on Linux two hours. Heartbeats find a network that fails."
                + " Add the module jdk.net to the Java runtime");
        return false;
      }
    }

    static void set(ChannelConfig config, Map<String, Integer> values) {
      if (!PRESENT) {
        return;
      }
      values.forEach(
          (name, value) -> {
            try {
              config.setOption(NioChannelOption.of(option(name)), value);
            } catch (ReflectiveOperationException e) {
              throw new LinkageError("jdk.net has no " + name, e);
            }
          });
    }

    @SuppressWarnings("unchecked")
    private static SocketOption<Integer> option(String name) throws ReflectiveOperationException {
      Object option = Class.forName("jdk.net.ExtendedSocketOptions").getField(name).get(null);
      return (SocketOption<Integer>) option;
    }
  }
}
