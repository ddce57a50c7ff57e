package org.sparkcollectives.internal.transport.tcp;

import java.time.Duration;

/**
 * Options of connections.
 *
 * @param sendBuffer the bytes that a connection asks the operating system to hold for it; 0 to
 *     leave that to the system
 * @param silence how long an idle connection may get no answer from the other host, see {@link
 *     KeepAlive}; 0 for any time
 */
public record SocketOptions(int sendBuffer, Duration silence) {}
