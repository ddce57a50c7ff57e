package org.sparkcollectives.spark.internal.python;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The reports of the ranks of one call of the Python package's {@code run} while they run: lines,
 * progress, exceptions. They are sent over Spark's RPC, which authenticates and encrypts them as
 * Spark is configured. They wait in the driver's JVM until its Python process takes them.
 * Thread-safe.
 *
 * <p>The reports that wait are bounded: those beyond the limit are dropped and counted.
 */
public final class RankReports {

  private static final int ID_BYTES = 16;
  private static final int HEAD_BYTES = ID_BYTES + Integer.BYTES;
  private static final int MOST_WAITING_BYTES = 64 << 20;
  private static final int MOST_TAKEN_BYTES = 1 << 20;

  private static final Map<UUID, RankReports> OPEN = new ConcurrentHashMap<>();

  private final UUID id = UUID.randomUUID();
  private final int mostBytes;
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private long dropped;
  private boolean closed;

  private RankReports(int mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** Starts to receive reports for a new id. Called by the driver's Python process. */
  public static RankReports open() {
    return open(MOST_WAITING_BYTES);
  }

  static RankReports open(int mostBytes) {
    RankReports made = new RankReports(mostBytes);
    OPEN.put(made.id, made);
    return made;
  }

  /** Returns the id that ranks report to, 32 hexadecimal digits. */
  public String id() {
    return id.toString().replace("-", "");
  }

  /** Returns how many reports were dropped because too many waited. */
  public synchronized long dropped() {
    return dropped;
  }

  /**
   * Takes the waiting reports: for each its length, the rank, both in four bytes in little-endian
   * order, and its content, which has that length. Blocks until there is a report, for {@code
   * millis} at the most, and returns at least one report if there is any.
   *
   * @return null when no report waits and {@link #close} was called
   */
  public synchronized byte[] take(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    long left = end - System.nanoTime();
    while (waiting.isEmpty() && !closed && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    if (waiting.isEmpty() && closed) {
      return null;
    }
    int count = 0;
    int size = 0;
    for (byte[] each : waiting) {
      if (count > 0 && size + each.length > MOST_TAKEN_BYTES) {
        break;
      }
      count++;
      size += each.length;
    }
    ByteBuffer taken = ByteBuffer.allocate(size);
    for (int i = 0; i < count; i++) {
      taken.put(waiting.remove());
    }
    waitingBytes -= size;
    return taken.array();
  }

  /** Stops receiving. Waiting reports can still be taken. */
  public synchronized void close() {
    OPEN.remove(id);
    closed = true;
    notifyAll();
  }

  /**
   * Creates the message with which an executor forwards a report.
   *
   * @param rank the rank that reports
   * @param report the 16 bytes of the id, and the content
   */
  static byte[] message(int rank, ByteBuffer report) {
    if (report.remaining() < ID_BYTES) {
      throw new IllegalArgumentException("A report of " + report.remaining() + " bytes has no id");
    }
    byte[] message = new byte[Integer.BYTES + report.remaining()];
    report.get(message, 0, ID_BYTES);
    int length = report.remaining();
    little(message).position(ID_BYTES).putInt(rank).put(report);
    assert message.length == HEAD_BYTES + length;
    return message;
  }

  /**
   * Receives a message of an executor in the driver. Does not block. Reports for an id that is
   * closed are ignored.
   *
   * @throws IllegalArgumentException if it is no such message
   */
  public static void receive(byte[] message) {
    if (message.length < HEAD_BYTES) {
      throw new IllegalArgumentException("A message of " + message.length + " bytes is no report");
    }
    ByteBuffer fields = ByteBuffer.wrap(message);
    RankReports reports = OPEN.get(new UUID(fields.getLong(), fields.getLong()));
    if (reports != null) {
      int rank = fields.order(ByteOrder.LITTLE_ENDIAN).getInt();
      byte[] report = new byte[2 * Integer.BYTES + fields.remaining()];
      little(report).putInt(fields.remaining()).putInt(rank).put(fields);
      reports.add(report);
    }
  }

  private synchronized void add(byte[] report) {
    if (closed) {
      return;
    }
    // A single report is accepted however long it is.
    if (!waiting.isEmpty() && waitingBytes + report.length > mostBytes) {
      dropped++;
      return;
    }
    waiting.add(report);
    waitingBytes += report.length;
    notifyAll();
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
