package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import javax.crypto.Mac;

/**
 * What both sides of a handshake know in the end, and what follows from it together with the
 * group's secret: the proofs.
 *
 * @param clientNonce what the client drew
 * @param serverNonce what the server drew
 * @param hello all that the client said first, with what the connection is for and how it is
 *     protected
 * @param binding the digest of the server's certificate under TLS, else empty: somebody in the
 *     middle with a certificate of its own gets proofs that count nowhere else
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Transcript(byte[] clientNonce, byte[] serverNonce, byte[] hello, byte[] binding) {

  /** What shows the server that the client has the secret. */
  public byte[] clientProof(byte[] secret) {
    return proof(secret, "client");
  }

  /** What shows the client that the server has the secret. */
  public byte[] serverProof(byte[] secret) {
    return proof(secret, "server");
  }

  private byte[] proof(byte[] secret, String who) {
    Mac mac = HmacSha256.under(secret);
    mac.update(who.getBytes(US_ASCII));
    mac.update(clientNonce);
    mac.update(serverNonce);
    mac.update(hello);
    mac.update(binding);
    return mac.doFinal();
  }
}
