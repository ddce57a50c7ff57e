package org.sparkcollectives.store;

import java.nio.ByteBuffer;

/**
 * An entry of a {@link FileLog}: an event, which all processes see in the same order.
 *
 * <pre>
 *   kind: 1 byte | client i64 | message
 * </pre>
 *
 * @param client the process that made the request; 0 for the other kinds
 * @param message the request, as {@link StoreCodec} writes it; empty for the other kinds
 */
record FileEntry(Kind kind, long client, ByteBuffer message) {

  private static final int HEAD_BYTES = 1 + Long.BYTES;

  /** The kind of event. The order of the constants is that of their codes in the file. */
  enum Kind {
    /** A process changes the table. */
    REQUEST,
    /** A handle was opened. */
    OPENED,
    /** A handle was closed. */
    CLOSED,
    /** The last handle was closed, and whoever reads this removes the file if it is still there. */
    REMOVED;

    private static final Kind[] ALL = values();
  }

  /** Creates an entry that consists of its kind alone. */
  static FileEntry of(Kind kind) {
    return new FileEntry(kind, 0, ByteBuffer.allocate(0));
  }

  /** Creates an entry for a request; the arrays of the request stay the caller's. */
  static FileEntry request(long client, long id, StoreRequest request) {
    return new FileEntry(Kind.REQUEST, client, ByteBuffer.wrap(StoreCodec.encode(id, request)));
  }

  /** Reads an entry, whose message stays in {@code bytes}. */
  static FileEntry decode(ByteBuffer bytes) {
    int code = bytes.remaining() < HEAD_BYTES ? -1 : bytes.get();
    if (code < 0 || code >= Kind.ALL.length) {
      throw new IllegalArgumentException(
          "it has an entry of an unknown kind, as if another version of this library wrote it");
    }
    return new FileEntry(Kind.ALL[code], bytes.getLong(), bytes.slice());
  }

  /** Returns the bytes of the entry, in two parts. */
  ByteBuffer[] encode() {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    head.put((byte) kind.ordinal()).putLong(client).flip();
    return new ByteBuffer[] {head, message.duplicate()};
  }

  /** Reads the request in the message. */
  StoreCodec.IdentifiedRequest decodeRequest() {
    return StoreCodec.decodeRequest(message.duplicate());
  }
}
