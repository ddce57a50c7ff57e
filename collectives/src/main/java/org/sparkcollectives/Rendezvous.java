package org.sparkcollectives;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * Makes a group from a URL, in plain processes, as c10d's {@code init_process_group} does:
 *
 * <ul>
 *   <li>{@code tcp://host:port?rank=0&world_size=4}: rank 0 listens at that address;
 *   <li>{@code env://}: the same with the environment variables {@code RANK}, {@code WORLD_SIZE},
 *       {@code MASTER_ADDR} and {@code MASTER_PORT};
 *   <li>{@code file:///path?rank=0&world_size=4}: a file that all processes see, which must not
 *       exist before and is removed at the end;
 *   <li>schemes of one's own, see {@link org.sparkcollectives.spi.RendezvousHandler#register}.
 * </ul>
 */
public final class Rendezvous {

  private Rendezvous() {}

  /**
   * Joins the group that a URL names, with the configured options.
   *
   * @see #join(String, GroupOptions)
   */
  public static ProcessGroup join(String url) {
    return join(url, GroupOptions.defaults());
  }

  /**
   * Joins the group that a URL names, with a rank and a world size that the URL does not contain.
   *
   * @param url without {@code rank} and {@code world_size}
   * @see #join(String, GroupOptions)
   */
  public static ProcessGroup join(String url, int rank, int worldSize, GroupOptions options) {
    int query = url.indexOf('?');
    if (query >= 0 && url.substring(query + 1).matches("(.*&)?(rank|world_size)(=.*)?")) {
      throw new IllegalArgumentException(
          "The URL "
              + url
              + " has a rank or world_size already; rank "
              + rank
              + " of "
              + worldSize
              + " was given too");
    }
    String separator = query >= 0 ? "&" : "?";
    return join(url + separator + "rank=" + rank + "&world_size=" + worldSize, options);
  }

  /**
   * Joins the group that a URL names. Blocks until all ranks have joined, for the smaller one of
   * the group's timeout and {@code spark.collectives.store.timeout} at the most. Closing the group
   * closes the store. The rank that serves the store then waits for up to 30 seconds until the
   * others have closed theirs, but not for those of a host from which it has heard nothing for
   * {@code spark.collectives.heartbeat.timeout}. If that rank itself fails to join, it ends the
   * joining of the others, and waits a second for them.
   *
   * @throws IllegalArgumentException if the URL is malformed, its scheme has no handler, or ranks
   *     disagree on the world size
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   * @throws org.sparkcollectives.store.StoreException if the store cannot be opened or reached
   */
  public static ProcessGroup join(String url, GroupOptions options) {
    URI parsed;
    try {
      // Nothing need follow env://, but a URI needs a path.
      parsed = new URI(url.replaceFirst("^env://(?=$|\\?)", "env:/"));
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("Not a rendezvous URL: " + e.getMessage(), e);
    }
    return CollectivesProvider.implementation().join(parsed, options);
  }
}
