package org.sparkcollectives.engine;

import java.time.Duration;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.transport.EventCount;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.tcp.SocketWait;

/**
 * Where one thread of a rank waits for its peers.
 *
 * @param progress its sends, and what ends a wait
 * @param sockets how it sleeps
 */
public record WaitingPlace(Progress progress, SocketWait sockets) {

  /** Whose waits the end of the group ends, and which look again and again for {@code spin}. */
  public static WaitingPlace of(GroupMonitor monitor, Duration spin) {
    SocketWait sockets = new SocketWait();
    Progress progress = new Progress(new EventCount(spin, sockets), monitor.state());
    monitor.state().onFailure(progress::signal);
    return new WaitingPlace(progress, sockets);
  }
}
