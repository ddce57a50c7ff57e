/**
 * The paths between ranks of different JVMs. A JVM accepts and opens connections on Netty's event
 * loops; then the rank's own thread reads and writes the sockets, by way of memory that all
 * connections share (the {@link org.sparkcollectives.internal.transport.tcp.SegmentPool}), or a
 * ring in shared memory if both JVMs are on one host. Where TLS encrypts the connection, that
 * thread encrypts and decrypts as well ({@link
 * org.sparkcollectives.internal.transport.tcp.TlsRecords}).
 *
 * <p>A JVM has one {@link org.sparkcollectives.internal.transport.tcp.TcpTransport}: one listening
 * port and a few event loops, shared by all groups and all their ranks here. The paths of one rank
 * in one group are {@link org.sparkcollectives.internal.transport.tcp.StreamPairs}.
 *
 * <p>Each connection belongs to one group, one sender and one receiver, and is of one {@link
 * org.sparkcollectives.internal.transport.tcp.ConnectionKind}. The bytes of messages flow one way
 * on it, from the rank that connected to the rank that accepted: a rank connects when it first
 * sends. What flows back is only what ends the connection.
 *
 * <p>{@link org.sparkcollectives.internal.transport.ByteSink} and {@link
 * org.sparkcollectives.internal.transport.ByteSource} separate how bytes get out and in from what
 * they mean.
 */
package org.sparkcollectives.internal.transport.tcp;
