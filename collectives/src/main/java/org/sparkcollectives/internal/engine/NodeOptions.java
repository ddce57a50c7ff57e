package org.sparkcollectives.internal.engine;

import java.time.Duration;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.transport.tcp.ListenAddress;
import org.sparkcollectives.internal.transport.tcp.SocketOptions;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;

/**
 * The options that decide which node of a JVM a rank belongs to.
 *
 * @param address where to listen
 * @param sockets how connections are used
 * @param connectTimeout how long to try to connect
 * @param security how connections are protected
 */
public record NodeOptions(
    ListenAddress address,
    SocketOptions sockets,
    Duration connectTimeout,
    TransportSecurity security) {

  /** How long a rank tries to connect to a peer, and waits for the handshake. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofMinutes(1);

  /**
   * The send buffer that each connection asks for. What the system chooses by itself is better only
   * where the round trip is long.
   */
  private static final int SEND_BUFFER = 4 << 20;

  /** Returns the options with which a rank is configured. */
  public static NodeOptions of(RankContext context) {
    Configuration configuration = context.configuration();
    String bindHost = configuration.get(CollectivesConfiguration.BIND_HOST);
    return new NodeOptions(
        new ListenAddress(
            bindHost.isEmpty() ? context.bindHost() : bindHost,
            configuration.get(CollectivesConfiguration.HOST),
            configuration.get(CollectivesConfiguration.PORT),
            configuration.get(CollectivesConfiguration.PORT_MAX_RETRIES)),
        new SocketOptions(
            SEND_BUFFER, configuration.get(CollectivesConfiguration.HEARTBEAT_TIMEOUT)),
        CONNECT_TIMEOUT,
        context.security());
  }
}
