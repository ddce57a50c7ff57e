package org.sparkcollectives.internal.engine;

import java.time.Duration;
import org.sparkcollectives.internal.failure.GroupState;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.spi.LogContext;

/**
 * Waits for the peers of a rank, in one of the rank's threads: for its sends to go out, and for
 * something to arrive.
 *
 * @param progress its sends, and what ends a wait
 * @param sockets how it sleeps
 */
public record Waiter(Progress progress, SocketWait sockets) {

  /**
   * Creates a waiter that looks again and again for {@code spin} before it sleeps, and that wakes
   * when the group ends. If {@code spin} is zero it does not poll memory either: where ranks share
   * processors, each poll keeps one from the rank that is waited for.
   *
   * @param cancellation ends each wait, once the group has failed
   */
  public static Waiter of(
      GroupState state, Cancellation cancellation, LogContext logContext, Duration spin) {
    Doorbell bell = new Doorbell(logContext::run);
    SocketWait sockets = spin.isZero() ? SocketWait.withoutPolling(bell) : new SocketWait(bell);
    Progress progress = new Progress(new EventCount(spin, sockets), cancellation);
    state.onFailure(progress::signal);
    return new Waiter(progress, sockets);
  }
}
