package org.sparkcollectives.internal.transport.tcp;

import java.time.Duration;
import org.sparkcollectives.spi.RankTuning;

/**
 * Options of connections.
 *
 * @param users which threads read and write the sockets of collectives
 * @param sendBuffer the bytes that a connection asks the operating system to hold for it; 0 to
 *     leave that to the system
 * @param silence how long an idle connection may get no answer from the other host, see {@link
 *     KeepAlive}; 0 for any time
 */
public record SocketOptions(RankTuning.Sockets users, int sendBuffer, Duration silence) {

  /** Returns whether Netty's native code may be used where it is present. */
  boolean nativeAllowed() {
    return users != RankTuning.Sockets.NIO_EVENT_LOOPS;
  }

  /** Returns whether collectives may use sockets themselves, beside Netty's event loops. */
  boolean directAllowed() {
    return users == RankTuning.Sockets.DIRECT;
  }
}
