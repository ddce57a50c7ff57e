package org.sparkcollectives.store;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Writes requests and replies as bytes, in the same form for every remote kind of store.
 *
 * <pre>
 *   request: version u8 | operation u8 | id i64 | number i64 | timeout ns i64 | keys | values
 *   reply:   version u8 | status u8    | id i64 | number i64 | waited ns i64  | text | keys | values
 *   keys:    count i32, then each: length i32, UTF-8
 *   values:  count i32, then each: kind u8 (0 the bytes, 1 a reference), length i32, bytes
 *   text:    length i32, UTF-8
 * </pre>
 *
 * <p>Big-endian. Every count and length is compared with the bytes that are present before anything
 * is allocated. A message whose lengths do not fit is refused with a {@link StoreException}.
 */
final class StoreCodec {

  static final byte VERSION = 1;

  /** The largest message: the largest value, and room for its key and the fixed part. */
  static final int MAX_MESSAGE_BYTES = Store.MAX_VALUE_BYTES + (1 << 20);

  private static final int ID_OFFSET = 2;
  private static final int FIXED_BYTES = 2 + 3 * Long.BYTES;
  private static final byte INLINE = 0;
  private static final byte REFERENCE = 1;

  private StoreCodec() {}

  /** A request and the id that its reply carries. */
  record IdentifiedRequest(long id, StoreRequest request) {}

  /** Returns the id of a request or reply, without reading the rest. */
  static long id(ByteBuffer message) {
    if (message.remaining() < FIXED_BYTES) {
      throw new StoreException("store message of " + message.remaining() + " bytes is cut short");
    }
    return message.getLong(message.position() + ID_OFFSET);
  }

  static byte[] encode(long id, StoreRequest request) {
    List<byte[]> keys = utf8(request.keys());
    long size = FIXED_BYTES + sizeOf(keys) + Integer.BYTES;
    size += sizeOfValues(request.values());
    byte[] message = allocate(size, request.describe());
    ByteBuffer out = ByteBuffer.wrap(message);
    putHead(out, request.operation().code(), id, request.number(), request.timeout().toNanos());
    putAll(out, keys);
    putValues(out, request.values());
    return message;
  }

  static IdentifiedRequest decodeRequest(ByteBuffer in) {
    try {
      checkVersion(in);
      int code = in.get();
      StoreOperation operation = StoreOperation.of(code);
      if (operation == null) {
        throw new StoreException("store request has the unknown operation " + code);
      }
      long id = in.getLong();
      long number = in.getLong();
      Duration timeout = Duration.ofNanos(in.getLong());
      List<String> keys = getKeys(in);
      List<StoredValue> values = getValues(in);
      checkEnd(in);
      operation.checkShape(keys.size(), values.size());
      return new IdentifiedRequest(id, new StoreRequest(operation, keys, values, number, timeout));
    } catch (BufferUnderflowException e) {
      throw new StoreException("store request is cut short", e);
    }
  }

  /** Writes a reply whose values are not copied before it is read. */
  static StoreMessage message(long id, StoreReply reply) {
    List<String> keys = reply.keys();
    List<StoredValue> values = reply.values();
    long size = FIXED_BYTES + 3L * Integer.BYTES + sizeOfValues(values);
    for (String key : keys) {
      size += sizeOf(key);
    }
    ByteBuffer head = ByteBuffer.allocate(FIXED_BYTES + 2 * Integer.BYTES);
    putHead(head, StoreFailure.GRANTED, id, reply.number(), 0);
    head.putInt(0).putInt(keys.size());
    // Concatenated, because a flat map would make all parts of what it flattens at once.
    Stream<byte[]> parts =
        Stream.concat(
            Stream.concat(Stream.of(head.array()), keys.stream().flatMap(StoreCodec::parts)),
            Stream.concat(
                Stream.of(fourBytes(values.size())), values.stream().flatMap(StoreCodec::parts)));
    return new StoreMessage(checked(size, "the reply"), parts.iterator());
  }

  private static Stream<byte[]> parts(String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return Stream.of(fourBytes(bytes.length), bytes);
  }

  private static Stream<byte[]> parts(StoredValue value) {
    Optional<byte[]> reference = value.reference();
    byte[] bytes = reference.orElseGet(value::bytes);
    byte kind = reference.isPresent() ? REFERENCE : INLINE;
    ByteBuffer head = ByteBuffer.allocate(1 + Integer.BYTES).put(kind).putInt(bytes.length);
    return Stream.of(head.array(), bytes);
  }

  private static byte[] fourBytes(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  static byte[] encode(long id, StoreFailure failure) {
    byte[] text = failure.message().getBytes(StandardCharsets.UTF_8);
    List<byte[]> keys = utf8(failure.missingKeys());
    byte[] message =
        allocate(
            FIXED_BYTES + Integer.BYTES + (long) text.length + sizeOf(keys) + Integer.BYTES,
            "the failure");
    ByteBuffer out = ByteBuffer.wrap(message);
    putHead(out, failure.status(), id, 0, failure.waited().toNanos());
    out.putInt(text.length).put(text);
    putAll(out, keys);
    out.putInt(0);
    return message;
  }

  /** Reads a reply. If it reports a failure, throws the exception of that {@link StoreFailure}. */
  static StoreReply decodeReply(ByteBuffer in) {
    try {
      checkVersion(in);
      int status = in.get();
      in.getLong();
      long number = in.getLong();
      Duration waited = Duration.ofNanos(in.getLong());
      String text = getText(in, in.remaining());
      List<String> keys = getKeys(in);
      List<StoredValue> values = getValues(in);
      checkEnd(in);
      if (status != StoreFailure.GRANTED) {
        throw new StoreFailure(status, text, keys, waited).toException();
      }
      return new StoreReply(values, keys, number);
    } catch (BufferUnderflowException e) {
      throw new StoreException("store reply is cut short", e);
    }
  }

  private static void putHead(ByteBuffer out, int code, long id, long number, long nanos) {
    out.put(VERSION).put((byte) code).putLong(id).putLong(number).putLong(nanos);
  }

  private static byte[] allocate(long size, String what) {
    return new byte[checked(size, what)];
  }

  private static int checked(long size, String what) {
    if (size > MAX_MESSAGE_BYTES) {
      throw new StoreException(
          what + " is a message of " + size + " bytes; the most is " + MAX_MESSAGE_BYTES);
    }
    return (int) size;
  }

  private static List<byte[]> utf8(List<String> texts) {
    return texts.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
  }

  private static long sizeOf(List<byte[]> chunks) {
    return Integer.BYTES + chunks.stream().mapToLong(chunk -> Integer.BYTES + chunk.length).sum();
  }

  private static void putAll(ByteBuffer out, List<byte[]> chunks) {
    out.putInt(chunks.size());
    chunks.forEach(chunk -> out.putInt(chunk.length).put(chunk));
  }

  private static long sizeOfValues(List<StoredValue> values) {
    long size = 0;
    for (StoredValue value : values) {
      size += sizeOf(value);
    }
    return size;
  }

  /** Returns how many bytes of a message a value takes. */
  static long sizeOf(StoredValue value) {
    return 1L + Integer.BYTES + value.reference().map(bytes -> bytes.length).orElse(value.size());
  }

  /** Returns how many bytes of a message a key takes. */
  static long sizeOf(String key) {
    return Integer.BYTES + (long) key.getBytes(StandardCharsets.UTF_8).length;
  }

  private static void putValues(ByteBuffer out, List<StoredValue> values) {
    out.putInt(values.size());
    values.stream().flatMap(StoreCodec::parts).forEach(out::put);
  }

  private static void checkVersion(ByteBuffer in) {
    byte version = in.get();
    if (version != VERSION) {
      throw new StoreException(
          "store message has protocol version " + version + ", this side speaks " + VERSION);
    }
  }

  private static void checkEnd(ByteBuffer in) {
    if (in.hasRemaining()) {
      throw new StoreException("store message has " + in.remaining() + " bytes too many");
    }
  }

  private static int getCount(ByteBuffer in, int bytesEach) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / bytesEach) {
      throw new StoreException(
          "store message announces " + count + " parts in " + in.remaining() + " bytes");
    }
    return count;
  }

  private static byte[] getChunk(ByteBuffer in, int most) {
    int length = in.getInt();
    if (length < 0 || length > most || length > in.remaining()) {
      throw new StoreException(
          "store message announces a part of " + length + " bytes in " + in.remaining());
    }
    byte[] chunk = new byte[length];
    in.get(chunk);
    return chunk;
  }

  private static String getText(ByteBuffer in, int most) {
    return new String(getChunk(in, most), StandardCharsets.UTF_8);
  }

  private static List<String> getKeys(ByteBuffer in) {
    int count = getCount(in, Integer.BYTES);
    List<String> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      keys.add(getText(in, KeyText.MAX_KEY_BYTES));
    }
    return keys;
  }

  private static List<StoredValue> getValues(ByteBuffer in) {
    int count = getCount(in, 1 + Integer.BYTES);
    List<StoredValue> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      byte kind = in.get();
      if (kind != INLINE && kind != REFERENCE) {
        throw new StoreException("store message has a value of the unknown kind " + kind);
      }
      values.add(new ReceivedValue(getChunk(in, Store.MAX_VALUE_BYTES), kind == REFERENCE));
    }
    return values;
  }
}
