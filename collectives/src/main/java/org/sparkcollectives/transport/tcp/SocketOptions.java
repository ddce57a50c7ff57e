package org.sparkcollectives.transport.tcp;

/**
 * How connections are used.
 *
 * @param nativeAllowed whether Netty's native code may be used where it is present
 * @param directAllowed whether collectives may use sockets themselves, beside Netty's event loops
 * @param sendBuffer the bytes that a connection asks the operating system to hold for it; 0 to
 *     leave that to the system
 */
public record SocketOptions(boolean nativeAllowed, boolean directAllowed, int sendBuffer) {}
