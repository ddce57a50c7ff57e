/**
 * Connections that both the store and the transport use: handshake, encryption, frames, event
 * loops.
 */
package org.sparkcollectives.net;
