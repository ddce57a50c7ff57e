package org.sparkcollectives.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * How long is waited for what, and the settings that follow. {@code -Dfaults.slowness} makes all of
 * it so many times longer, for a machine that is too busy for heartbeats of a fifth of a second.
 */
final class FaultSettings {

  static final long SLOWNESS = Long.getLong("faults.slowness", 1);

  /** After which a process that sends no heartbeat is unresponsive. */
  static final Duration HEARTBEAT = Duration.ofSeconds(2 * SLOWNESS);

  /** The time that ranks wait for each other in a rendezvous in which something goes wrong. */
  static final Duration RENDEZVOUS = Duration.ofSeconds(2 * SLOWNESS);

  /** The deadline of operations where a rank is slow. */
  static final Duration DEADLINE = Duration.ofSeconds(2 * SLOWNESS);

  /** The deadline of all others, for which no rank should have to wait. */
  static final Duration PATIENCE = Duration.ofSeconds(45 * SLOWNESS);

  /** The time after which a rank that has not ended hangs. */
  static final Duration HANG = Duration.ofSeconds(60 * SLOWNESS);

  /** The secret with which processes of other addresses may use the store. */
  @SuppressWarnings("MutablePublicArray") // Nothing changes it.
  static final byte[] SECRET = {1, 2, 3};

  private FaultSettings() {}

  /**
   * Returns what hosts a rank of a process.
   *
   * @param bindHost its own address
   * @param host the address that peers are told; empty for its own
   * @param port the port to listen on; 0 for any
   */
  static HostedRank context(String folder, String bindHost, String host, int port) {
    List<String> settings = new ArrayList<>();
    set(settings, CollectivesConfiguration.SHM_FOLDER, folder);
    set(settings, CollectivesConfiguration.BIND_HOST, bindHost);
    set(settings, CollectivesConfiguration.HEARTBEAT_TIMEOUT, HEARTBEAT.toMillis() + "ms");
    if (!host.isEmpty()) {
      set(settings, CollectivesConfiguration.HOST, host);
      set(settings, CollectivesConfiguration.PORT, String.valueOf(port));
      set(settings, CollectivesConfiguration.PORT_MAX_RETRIES, "0");
    }
    return new HostedRank(settings, TransportSecurity.plain());
  }

  private static void set(List<String> settings, ConfigEntry<?> entry, String value) {
    settings.add(entry.key() + "=" + value);
  }
}
