package org.sparkcollectives.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import javax.crypto.Mac;

/**
 * The data that both sides of a handshake know in the end. Together with the group's secret it
 * yields the proofs.
 *
 * @param clientNonce the nonce that the client drew
 * @param serverNonce the nonce that the server drew
 * @param hello the client's whole first message, with the purpose and the protection of the
 *     connection
 * @param binding the digest of the server's certificate under TLS, else empty: a man in the middle
 *     with a certificate of his own gets proofs that are valid nowhere else
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Transcript(byte[] clientNonce, byte[] serverNonce, byte[] hello, byte[] binding) {

  /** Returns the proof to the server that the client has the secret. */
  public byte[] clientProof(byte[] secret) {
    return proof(secret, "client");
  }

  /** Returns the proof to the client that the server has the secret. */
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
