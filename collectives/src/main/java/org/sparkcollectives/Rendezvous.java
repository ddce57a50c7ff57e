package org.sparkcollectives;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkcollectives.engine.GroupCreation;

/**
 * Makes a group from a URL, in plain processes, as c10d's {@code init_process_group} does: {@code
 * tcp://host:port?rank=0&world_size=4}, where rank 0 listens, or a scheme of one's own.
 */
public final class Rendezvous {

  private static final Map<String, RendezvousHandler> HANDLERS = new ConcurrentHashMap<>();

  static {
    HANDLERS.put("tcp", new TcpRendezvous());
  }

  private Rendezvous() {}

  /**
   * From now on {@code handler} opens the URLs of {@code scheme}.
   *
   * @throws IllegalArgumentException if the scheme has a handler already
   */
  public static void register(String scheme, RendezvousHandler handler) {
    Objects.requireNonNull(handler, "handler");
    if (HANDLERS.putIfAbsent(scheme, handler) != null) {
      throw new IllegalArgumentException(
          "There is a rendezvous handler for " + scheme + ":// already");
    }
  }

  /**
   * Joins the group that a URL names, with the configured options.
   *
   * @see #join(String, GroupOptions)
   */
  public static ProcessGroup join(String url) {
    return join(url, GroupOptions.defaults());
  }

  /**
   * Joins the group that a URL names. Blocks until all ranks have joined. The store goes with the
   * group.
   *
   * @throws IllegalArgumentException if the URL is malformed or nobody handles its scheme
   */
  public static ProcessGroup join(String url, GroupOptions options) {
    URI parsed;
    try {
      parsed = new URI(url);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("Not a rendezvous URL: " + e.getMessage(), e);
    }
    String scheme = String.valueOf(parsed.getScheme());
    RendezvousHandler handler = HANDLERS.get(scheme);
    if (handler == null) {
      throw new IllegalArgumentException(
          "No rendezvous handler for "
              + scheme
              + "://, only for "
              + new TreeMap<>(HANDLERS).keySet()
              + "; see Rendezvous.register");
    }
    RendezvousHandler.Meeting meeting = handler.open(parsed);
    boolean joined = false;
    try {
      ProcessGroup group =
          GroupCreation.create(
              meeting.store(),
              meeting.rank(),
              meeting.size(),
              options,
              RankContext.process(),
              meeting.onClose());
      joined = true;
      return group;
    } finally {
      if (!joined) {
        meeting.onClose().run();
      }
    }
  }
}
