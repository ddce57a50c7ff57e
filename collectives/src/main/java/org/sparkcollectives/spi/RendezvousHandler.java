package org.sparkcollectives.spi;

import java.net.URI;
import java.time.Duration;
import org.sparkcollectives.store.Store;

/** Opens the URLs of one scheme for {@link org.sparkcollectives.Rendezvous#join}. */
@FunctionalInterface
public interface RendezvousHandler {

  /**
   * Registers {@code handler} for the URLs of {@code scheme}, for as long as the JVM runs.
   *
   * @throws IllegalArgumentException if the scheme has a handler already
   */
  static void register(String scheme, RendezvousHandler handler) {
    SpiProvider.implementation().register(scheme, handler);
  }

  /**
   * Opens the store that a URL names. May block until others are there.
   *
   * @throws IllegalArgumentException if the URL lacks something; the message says what
   */
  Meeting open(URI url);

  /**
   * Opens the store that a URL names, within the time that the group's making may take. Blocks for
   * no longer than that. By default it blocks as {@link #open(URI)} does.
   *
   * @throws IllegalArgumentException if the URL lacks something; the message says what
   */
  default Meeting open(URI url, Duration timeout) {
    return open(url);
  }

  /**
   * Releases the store of a group that was not made, by default as after a group was closed.
   *
   * @param meeting what {@link #open(URI, Duration)} gave
   * @param cause why it was not made
   */
  default void failed(Meeting meeting, RuntimeException cause) {
    meeting.onClose().run();
  }

  /**
   * The result of opening a URL: the store, and this rank's part in the group.
   *
   * @param store the store in which ranks find each other
   * @param rank which rank the caller is
   * @param size the number of ranks
   * @param bindHost the address at which the other ranks reach this process, unless {@code
   *     spark.collectives.bindHost} names one
   * @param onClose releases the store, after the group was closed
   */
  record Meeting(Store store, int rank, int size, String bindHost, Runnable onClose) {}
}
