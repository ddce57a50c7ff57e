package org.sparkcollectives.internal.engine;

import java.time.Duration;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.transport.tcp.ListenAddress;
import org.sparkcollectives.internal.transport.tcp.SocketOptions;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/**
 * The options that decide which node of a JVM a rank belongs to.
 *
 * @param address where to listen
 * @param sockets how connections are used
 * @param connectTimeout how long to try to connect
 * @param security how connections are protected
 * @param watchdogTimeout how long the watchdog may be stuck; 0 for any time
 */
public record NodeOptions(
    ListenAddress address,
    SocketOptions sockets,
    Duration connectTimeout,
    TransportSecurity security,
    Duration watchdogTimeout) {

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
            configuration.get(CollectivesConfiguration.NATIVE),
            configuration.get(CollectivesConfiguration.DIRECT),
            configuration.get(CollectivesConfiguration.SEND_BUFFER).intValue(),
            configuration.get(CollectivesConfiguration.HEARTBEAT_TIMEOUT)),
        configuration.get(CollectivesConfiguration.CONNECT_TIMEOUT),
        context.security(),
        configuration.get(CollectivesConfiguration.WATCHDOG_TIMEOUT));
  }
}
