package org.sparkcollectives;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/** {@code tcp://host:port?rank=R&world_size=N}: rank 0 serves the store at that address. */
final class TcpRendezvous implements RendezvousHandler {

  /** How long rank 0 waits at the end for the others to have left its store. */
  private static final Duration LINGER = Duration.ofSeconds(30);

  @Override
  public Meeting open(URI url) {
    if (url.getHost() == null || url.getPort() < 0) {
      throw malformed(url, "host or port number missing");
    }
    Map<String, String> arguments = arguments(url);
    int rank = number(url, arguments, "rank");
    int size = number(url, arguments, "world_size");
    if (!arguments.isEmpty()) {
      throw malformed(url, "unknown arguments " + arguments.keySet());
    }
    if (size < 1 || rank < 0 || rank >= size) {
      throw malformed(url, "rank must be 0 to world_size - 1");
    }
    if (rank > 0) {
      Duration timeout = Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT);
      Store client = TcpStore.connect(url.getHost(), url.getPort(), timeout);
      return new Meeting(client, rank, size, client::close);
    }
    TcpStoreServer server = TcpStore.server(url.getHost(), url.getPort());
    return new Meeting(
        server,
        rank,
        size,
        () -> {
          server.awaitClientsGone(LINGER);
          server.close();
        });
  }

  private static Map<String, String> arguments(URI url) {
    Map<String, String> arguments = new HashMap<>();
    if (url.getQuery() != null) {
      for (String each : url.getQuery().split("&", -1)) {
        int equals = each.indexOf('=');
        String name = equals < 0 ? each : each.substring(0, equals);
        if (arguments.put(name, equals < 0 ? "" : each.substring(equals + 1)) != null) {
          throw malformed(url, name + " is given twice");
        }
      }
    }
    return arguments;
  }

  private static int number(URI url, Map<String, String> arguments, String name) {
    String text = arguments.remove(name);
    if (text == null) {
      throw malformed(url, name + " parameter missing");
    }
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw malformed(url, name + " is not a number: " + text);
    }
  }

  private static IllegalArgumentException malformed(URI url, String what) {
    return new IllegalArgumentException(
        "Cannot meet at "
            + url
            + ": "
            + what
            + ". It must look like"
            + " tcp://127.0.0.1:29500?rank=0&world_size=4");
  }
}
