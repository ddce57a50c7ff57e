package org.sparkcollectives.spark.internal.protocol;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.sparkcollectives.spi.failure.FailureCodec;
import org.sparkcollectives.store.StoreException;

/**
 * The messages between the executors and the driver's store over Spark's RPC: bytes only.
 *
 * <p>Spark decodes RPC messages with the class loader that it started with. An object of one of our
 * classes, from a jar that was added later, would bring down every executor that it reaches.
 *
 * <pre>
 *   OPEN  session, stage, attempt, call, group, record
 *                                      a new client; always first. Until the group is created, the
 *                                      record is reported to its ranks if this client is lost
 *   CHECKPOINTS session, session       a further client for the checkpoints of an open one's call
 *   RUN   session, run, host, executor, replica, incarnation, stage, attempt
 *                                      a new client in place of OPEN: for the keys of a run
 *   QUORUM session, request            the reply, once it is decided: the quorum of its next step
 *   CALL  session, a store's request   the reply is the store's
 *   UPLOAD session, size               a large value will come; the reply, once the first piece may
 *                                      be sent: the upload's number, the size of a piece
 *   PIECE session, upload, bytes       the reply comes when the next piece may be sent
 *   DISCARD session, upload            the value is no longer wanted
 *   ROOM  session                      the reply: how many more bytes of large values fit
 *   WILL  session, group, record       what to publish if this client is lost; empty: nothing
 *   DUMP  session, stage, attempt, occasion, dump of a flight recorder
 *   TEAR_DOWN session, patience, reason
 *                                      the tasks of the stage are to fail, unless they end by
 *                                      themselves within so many milliseconds
 *   RACK  session, host                the reply: the rack of the host; empty if it is unknown
 *   CLOSE session                      the client is done
 *   STATISTICS session, report         what an executor reports of its ranks; the session is none
 *   THROWN session, stage, attempt, call, exception
 *                                      what a rank has thrown; the session is none
 *   reply: OK, bytes   or   REFUSED, text
 * </pre>
 */
public final class StoreMessages {

  /** The name of the RPC endpoint. */
  public static final String ENDPOINT = "spark-collectives-store";

  public static final byte OPEN = 1;
  public static final byte CALL = 2;
  public static final byte CLOSE = 3;
  public static final byte WILL = 4;
  public static final byte DUMP = 5;
  public static final byte CHECKPOINTS = 6;
  public static final byte TEAR_DOWN = 7;
  public static final byte UPLOAD = 8;
  public static final byte PIECE = 9;
  public static final byte DISCARD = 10;
  public static final byte ROOM = 11;
  public static final byte STATISTICS = 12;
  public static final byte THROWN = 13;
  public static final byte RACK = 14;
  public static final byte RUN = 15;
  public static final byte QUORUM = 16;

  private static final UUID NO_SESSION = new UUID(0, 0);
  private static final byte OK = 0;
  private static final byte REFUSED = 1;

  private StoreMessages() {}

  public static byte[] open(UUID session, JoinRequest request) {
    byte[] call = request.call().getBytes(StandardCharsets.UTF_8);
    byte[] group = request.group().getBytes(StandardCharsets.UTF_8);
    byte[] record = FailureCodec.encode(request.ifLost());
    return head(OPEN, session, 4 * Integer.BYTES + call.length + group.length + record.length)
        .putInt(request.stage().stageId())
        .putInt(request.stage().attempt())
        .putInt(call.length)
        .put(call)
        .putInt(group.length)
        .put(group)
        .put(record)
        .array();
  }

  /** Reads the rest of an {@link #OPEN} behind its session. */
  public static JoinRequest joinRequest(ByteBuffer message) {
    StageAttempt stage = stage(message);
    String call = text(message);
    String group = text(message);
    try {
      return new JoinRequest(stage, call, group, FailureCodec.decode(rest(message)));
    } catch (UncheckedIOException e) {
      throw new IllegalArgumentException(
          "a message of " + message.limit() + " bytes that ends with no record: " + e.getMessage(),
          e);
    }
  }

  public static byte[] run(UUID session, RunRequest request) {
    byte[] run = request.run().getBytes(StandardCharsets.UTF_8);
    byte[] host = request.host().getBytes(StandardCharsets.UTF_8);
    byte[] executor = request.executor().getBytes(StandardCharsets.UTF_8);
    int texts = run.length + host.length + executor.length;
    return head(RUN, session, 7 * Integer.BYTES + Long.BYTES + texts)
        .putInt(run.length)
        .put(run)
        .putInt(host.length)
        .put(host)
        .putInt(executor.length)
        .put(executor)
        .putInt(request.replica())
        .putInt(request.rank())
        .putLong(request.incarnation())
        .putInt(request.stage().stageId())
        .putInt(request.stage().attempt())
        .array();
  }

  /** Reads the rest of a {@link #RUN} behind its session. */
  public static RunRequest runRequest(ByteBuffer message) {
    String run = text(message);
    String host = text(message);
    String executor = text(message);
    require(message, 2 * Integer.BYTES + Long.BYTES);
    int replica = message.getInt();
    int rank = message.getInt();
    long incarnation = message.getLong();
    return new RunRequest(run, replica, rank, stage(message), incarnation, host, executor);
  }

  public static byte[] quorum(UUID session, QuorumRequest request) {
    byte[] encoded = request.encode();
    return head(QUORUM, session, encoded.length).put(encoded).array();
  }

  public static byte[] checkpoints(UUID session, UUID open) {
    return head(CHECKPOINTS, session, 2 * Long.BYTES)
        .putLong(open.getMostSignificantBits())
        .putLong(open.getLeastSignificantBits())
        .array();
  }

  public static byte[] call(UUID session, byte[] request) {
    return head(CALL, session, request.length).put(request).array();
  }

  public static byte[] upload(UUID session, int size) {
    return head(UPLOAD, session, Integer.BYTES).putInt(size).array();
  }

  public static byte[] piece(UUID session, long upload, byte[] value, int offset, int length) {
    return head(PIECE, session, Long.BYTES + length)
        .putLong(upload)
        .put(value, offset, length)
        .array();
  }

  public static byte[] discard(UUID session, long upload) {
    return head(DISCARD, session, Long.BYTES).putLong(upload).array();
  }

  public static byte[] room(UUID session) {
    return head(ROOM, session, 0).array();
  }

  public static byte[] rack(UUID session, String host) {
    byte[] name = host.getBytes(StandardCharsets.UTF_8);
    return head(RACK, session, Integer.BYTES + name.length).putInt(name.length).put(name).array();
  }

  /** Creates the reply to a ROOM. */
  public static byte[] roomIs(long bytes) {
    return ok(ByteBuffer.allocate(Long.BYTES).putLong(bytes).array());
  }

  /** Creates the reply to an UPLOAD. */
  public static byte[] uploadBegun(long upload, int pieceBytes) {
    return ok(
        ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(upload).putInt(pieceBytes).array());
  }

  public static byte[] will(UUID session, String group, byte[] record) {
    byte[] name = group.getBytes(StandardCharsets.UTF_8);
    return head(WILL, session, Integer.BYTES + name.length + record.length)
        .putInt(name.length)
        .put(name)
        .put(record)
        .array();
  }

  public static byte[] dump(UUID session, StageAttempt stage, String occasion, byte[] dump) {
    byte[] what = occasion.getBytes(StandardCharsets.UTF_8);
    return head(DUMP, session, 3 * Integer.BYTES + what.length + dump.length)
        .putInt(stage.stageId())
        .putInt(stage.attempt())
        .putInt(what.length)
        .put(what)
        .put(dump)
        .array();
  }

  public static byte[] tearDown(UUID session, Duration patience, String reason) {
    byte[] why = reason.getBytes(StandardCharsets.UTF_8);
    return head(TEAR_DOWN, session, Long.BYTES + Integer.BYTES + why.length)
        .putLong(patience.toMillis())
        .putInt(why.length)
        .put(why)
        .array();
  }

  public static byte[] statistics(UUID session, byte[] report) {
    return head(STATISTICS, session, report.length).put(report).array();
  }

  public static byte[] thrown(StageAttempt stage, String call, byte[] exception) {
    byte[] name = call.getBytes(StandardCharsets.UTF_8);
    return head(THROWN, NO_SESSION, 3 * Integer.BYTES + name.length + exception.length)
        .putInt(stage.stageId())
        .putInt(stage.attempt())
        .putInt(name.length)
        .put(name)
        .put(exception)
        .array();
  }

  /** Reads the next text of {@code message}: its call, group, occasion, reason or host. */
  public static String text(ByteBuffer message) {
    require(message, Integer.BYTES);
    int length = message.getInt();
    require(message, length);
    byte[] name = new byte[length];
    message.get(name);
    return new String(name, StandardCharsets.UTF_8);
  }

  /** Reads the kind of the message. */
  public static byte kind(ByteBuffer message) {
    require(message, 1);
    return message.get();
  }

  /** Reads the next stage of {@code message}. */
  public static StageAttempt stage(ByteBuffer message) {
    require(message, 2 * Integer.BYTES);
    return new StageAttempt(message.getInt(), message.getInt());
  }

  /** Reads the next size of {@code message}. */
  public static int size(ByteBuffer message) {
    require(message, Integer.BYTES);
    return message.getInt();
  }

  /** Reads the next number of an upload in {@code message}. */
  public static long upload(ByteBuffer message) {
    require(message, Long.BYTES);
    return message.getLong();
  }

  /** Reads the next milliseconds of {@code message}. */
  public static long millis(ByteBuffer message) {
    require(message, Long.BYTES);
    return message.getLong();
  }

  private static void require(ByteBuffer message, int bytes) {
    if (bytes < 0 || bytes > message.remaining()) {
      throw new IllegalArgumentException(
          "a message of "
              + message.limit()
              + " bytes, which announces "
              + bytes
              + " more after "
              + message.position());
    }
  }

  public static byte[] close(UUID session) {
    return head(CLOSE, session, 0).array();
  }

  /** Reads the rest of {@code message}. */
  public static byte[] rest(ByteBuffer message) {
    byte[] rest = new byte[message.remaining()];
    message.get(rest);
    return rest;
  }

  private static ByteBuffer head(byte kind, UUID session, int more) {
    return ByteBuffer.allocate(1 + 2 * Long.BYTES + more)
        .put(kind)
        .putLong(session.getMostSignificantBits())
        .putLong(session.getLeastSignificantBits());
  }

  /** Reads the next session of {@code message}. */
  public static UUID session(ByteBuffer message) {
    require(message, 2 * Long.BYTES);
    return new UUID(message.getLong(), message.getLong());
  }

  public static byte[] ok(byte[] reply) {
    return ByteBuffer.allocate(1 + reply.length).put(OK).put(reply).array();
  }

  public static byte[] refused(String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put(REFUSED).put(text).array();
  }

  /**
   * Returns the content of a reply.
   *
   * @throws StoreException with the store's text if it has refused
   */
  public static byte[] unwrap(byte[] reply) {
    if (reply.length == 0) {
      throw new StoreException("The driver's store gave an empty reply");
    }
    byte[] content = new byte[reply.length - 1];
    System.arraycopy(reply, 1, content, 0, content.length);
    if (reply[0] != OK) {
      throw new StoreException(new String(content, StandardCharsets.UTF_8));
    }
    return content;
  }
}
