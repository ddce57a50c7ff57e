package org.sparkcollectives.net;

import java.time.Duration;
import java.util.Optional;

/**
 * Decides when something that is tried again and again has lacked file descriptors for too long.
 * Not thread-safe.
 */
public final class DescriptorShortage {

  /** How long attempts may lack file descriptors: others of the process may soon give some back. */
  public static final Duration PATIENCE = Duration.ofSeconds(5);

  private final long patienceNanos;
  private boolean lacking;
  private long firstNanos;
  private long lastNanos;

  /**
   * Creates the state of one thing that is tried.
   *
   * @param patience how long attempts may lack file descriptors
   */
  public DescriptorShortage(Duration patience) {
    patienceNanos = patience.toNanos();
  }

  /**
   * Notes that an attempt has failed.
   *
   * @return the error to give up with; empty while it is worth another attempt, or failed for
   *     another reason
   */
  public Optional<DescriptorsExhaustedException> failed(Throwable cause) {
    if (!(DescriptorsExhaustedException.explain(cause)
        instanceof DescriptorsExhaustedException exhausted)) {
      lacking = false;
      return Optional.empty();
    }
    long now = System.nanoTime();
    // A lack that nobody has noticed for so long is another one.
    if (!lacking || now - lastNanos > patienceNanos) {
      firstNanos = now;
    }
    lacking = true;
    lastNanos = now;
    return now - firstNanos >= patienceNanos ? Optional.of(exhausted) : Optional.empty();
  }

  /** Notes that an attempt has succeeded. */
  void succeeded() {
    lacking = false;
  }
}
