/**
 * Connections that both the store and the transport use: handshake, encryption, frames, event
 * loops; and the threads of all modules.
 */
package org.sparkcollectives.net;
