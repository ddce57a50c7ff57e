package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkcollectives.config.NearestName;
import org.sparkcollectives.spi.RendezvousHandler;

/**
 * The handlers of rendezvous URLs in this JVM: those of the library, and those that were
 * registered. Thread-safe.
 */
public final class RendezvousHandlers {

  private static final Map<String, RendezvousHandler> BY_SCHEME =
      new ConcurrentHashMap<>(
          Map.of(
              "tcp", new TcpRendezvous(),
              "file", new FileRendezvous(),
              "env", new EnvironmentRendezvous(System::getenv)));

  private RendezvousHandlers() {}

  /**
   * Registers the handler of a scheme, see {@link RendezvousHandler#register}.
   *
   * @throws IllegalArgumentException if the scheme has a handler already
   */
  public static void register(String scheme, RendezvousHandler handler) {
    Objects.requireNonNull(handler, "handler");
    if (BY_SCHEME.putIfAbsent(scheme, handler) != null) {
      throw new IllegalArgumentException(
          "There is a rendezvous handler for " + scheme + ":// already");
    }
  }

  /**
   * Returns the handler of a URL.
   *
   * @throws IllegalArgumentException if its scheme has none
   */
  public static RendezvousHandler of(URI url) {
    String scheme = String.valueOf(url.getScheme());
    RendezvousHandler handler = BY_SCHEME.get(scheme);
    if (handler == null) {
      throw new IllegalArgumentException(
          "No rendezvous handler for "
              + scheme
              + "://, only for "
              + new TreeSet<>(BY_SCHEME.keySet())
              + "; see RendezvousHandler.register."
              + NearestName.question(scheme, BY_SCHEME.keySet()));
    }
    return handler;
  }
}
