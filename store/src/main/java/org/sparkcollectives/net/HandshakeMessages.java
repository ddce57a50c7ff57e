package org.sparkcollectives.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * The messages of the handshake, each in a frame of its own with its length in two bytes before it.
 *
 * <pre>
 *   client                                              server
 *   hello: magic, version, nonce, connection id,
 *          protection                            ---&gt;
 *          &lt;---  challenge: magic, version, status, nonce
 *   proof: magic, version, status,
 *          HMAC("client", both nonces, hello)     ---&gt;
 *          &lt;---  welcome: magic, version, status, HMAC("server", both nonces, hello)
 * </pre>
 *
 * <p>Each side proves that it has the group's secret. The proof covers the nonces of both sides, so
 * no proof counts twice. It covers the whole hello, so nothing in it can be changed on the way, not
 * even the protection, on which both sides must agree first (see {@link Protection}). The two
 * proofs differ in a word, so neither can be sent back as the other. The client proves itself
 * first: whoever merely reaches the port gets nothing from which the secret could be guessed
 * offline. Under TLS all of this is inside the encryption, and both proofs also cover the digest of
 * the server's certificate.
 */
final class HandshakeMessages {

  static final int MAX_FRAME_BYTES = 4096;
  static final int NONCE_BYTES = 16;
  static final int PROOF_BYTES = 32;

  static final byte OK = 0;
  static final byte OTHER_VERSION = 1;
  static final byte UNKNOWN_GROUP = 2;
  static final byte WRONG_SECRET = 3;
  static final byte OTHER_PROTECTION = 4;

  private static final int MAGIC = 0x53434f4c;
  private static final short VERSION = 2;

  private HandshakeMessages() {}

  static ByteBuf hello(byte[] nonce, ConnectionId id, Protection protection) {
    byte[] group = id.group().getBytes(StandardCharsets.UTF_8);
    if (group.length > ConnectionId.MAX_GROUP_BYTES) {
      throw new IllegalArgumentException(
          "A group's name may have "
              + ConnectionId.MAX_GROUP_BYTES
              + " bytes, not "
              + group.length);
    }
    ByteBuf hello = Unpooled.buffer();
    hello.writeInt(MAGIC).writeShort(VERSION).writeBytes(nonce);
    hello.writeInt(id.from()).writeInt(id.to()).writeInt(id.kind());
    hello.writeShort(group.length).writeBytes(group);
    return hello.writeByte(protection.code());
  }

  /** Returns whether the message begins as ours do, and reads that beginning. */
  static boolean isOurs(ByteBuf message) {
    return message.readableBytes() >= Integer.BYTES + Short.BYTES && message.readInt() == MAGIC;
  }

  static boolean isThisVersion(ByteBuf message) {
    return message.readShort() == VERSION;
  }

  static byte[] nonce(ByteBuf message) {
    return bytes(message, NONCE_BYTES);
  }

  /** Reads the next bytes. Allocates memory only once it is known that they are present. */
  static byte[] bytes(ByteBuf message, int count) {
    return ByteBufUtil.getBytes(message.readSlice(count));
  }

  static ConnectionId connectionId(ByteBuf message) {
    int from = message.readInt();
    int to = message.readInt();
    int kind = message.readInt();
    byte[] group = bytes(message, message.readUnsignedShort());
    return new ConnectionId(new String(group, StandardCharsets.UTF_8), from, to, kind);
  }

  static ByteBuf refusal(byte status) {
    return Unpooled.buffer().writeInt(MAGIC).writeShort(VERSION).writeByte(status);
  }

  /**
   * Creates a message that reports success so far, with the nonce or the proof that belongs to it.
   */
  static ByteBuf ok(byte[] content) {
    return refusal(OK).writeBytes(content);
  }

  /** Creates a refusal that says how this side protects connections. */
  static ByteBuf otherProtection(Protection own) {
    return refusal(OTHER_PROTECTION).writeByte(own.code());
  }
}
