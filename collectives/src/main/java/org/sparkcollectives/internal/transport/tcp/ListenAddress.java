package org.sparkcollectives.internal.transport.tcp;

/**
 * The address at which a JVM listens for its ranks' peers.
 *
 * @param bindHost the address to listen on
 * @param advertisedHost the address that peers are told; empty for {@code bindHost}
 * @param port the first port to try; 0 for any
 * @param portRetries how many further ports are tried
 */
public record ListenAddress(String bindHost, String advertisedHost, int port, int portRetries) {

  /** Returns the address that peers connect to. */
  String reachableHost() {
    return advertisedHost.isEmpty() ? bindHost : advertisedHost;
  }
}
