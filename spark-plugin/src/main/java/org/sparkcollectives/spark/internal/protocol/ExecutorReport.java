package org.sparkcollectives.spark.internal.protocol;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spi.failure.FailureCodec;

/**
 * What an executor reports to the driver: sums over its ranks' operations, and what it holds.
 *
 * @param executorId the executor
 * @param host its address
 * @param process what its process holds
 * @param ranks its ranks, each in a group
 */
public record ExecutorReport(
    String executorId, String host, ProcessStatistics process, List<RankReport> ranks) {

  /** The most ranks in a report; an executor with more sends several. */
  public static final int MOST_RANKS = 32;

  private static final int VERSION = 2;
  private static final int MOST_TEXT_BYTES = 1 << 12;

  public ExecutorReport {
    ranks = List.copyOf(ranks);
  }

  /** Returns the bytes of the report. */
  public byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(4 << 10);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      write(out, executorId);
      write(out, host);
      out.writeLong(process.bytesSent());
      out.writeLong(process.connections());
      out.writeLong(process.sharedBytes());
      out.writeInt(ranks.size());
      for (RankReport each : ranks) {
        write(out, each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, RankReport report) throws IOException {
    out.writeInt(report.stage().stageId());
    out.writeInt(report.stage().attempt());
    out.writeLong(report.taskAttemptId());
    out.writeBoolean(report.ended());
    byte[] failure = report.failure().map(FailureCodec::encode).orElse(new byte[0]);
    out.writeInt(failure.length);
    out.write(failure);
    write(out, report.statistics());
  }

  private static void write(DataOutputStream out, GroupStatistics statistics) throws IOException {
    write(out, statistics.group());
    out.writeInt(statistics.rank());
    out.writeInt(statistics.size());
    out.writeLong(statistics.operations());
    out.writeLong(statistics.failures());
    out.writeLong(statistics.bytes());
    out.writeDouble(statistics.collectiveSeconds());
    out.writeDouble(statistics.outsideSeconds());
    out.writeInt(statistics.pending());
    out.writeDouble(statistics.longestPendingSeconds());
    out.writeInt(statistics.paths().heap());
    out.writeInt(statistics.paths().sharedMemory());
    out.writeInt(statistics.paths().tcp());
    out.writeInt(statistics.byOperation().size());
    for (OperationStatistics row : statistics.byOperation()) {
      out.writeInt(row.operation().code());
      out.writeByte(row.sizeClass());
      write(out, row.algorithm());
      out.writeLong(row.count());
      out.writeLong(row.bytes());
      out.writeDouble(row.seconds());
      out.writeDouble(row.medianSeconds());
      out.writeDouble(row.p99Seconds());
    }
    out.writeLong(statistics.sampleInterval());
    out.writeInt(statistics.arrivals().size());
    for (Arrival arrival : statistics.arrivals()) {
      out.writeLong(arrival.sequence());
      out.writeByte(arrival.row());
      out.writeLong(arrival.durationNanos());
      out.writeLong(arrival.outsideNanos());
    }
    out.writeLong(statistics.progress().done());
    out.writeLong(statistics.progress().total());
    write(out, statistics.progress().text());
  }

  private static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(MOST_TEXT_BYTES, bytes.length);
    out.writeInt(length);
    out.write(bytes, 0, length);
  }

  /**
   * Returns the report that {@link #encode} made the bytes of.
   *
   * @throws IllegalArgumentException if it did not
   */
  public static ExecutorReport decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException("version " + version);
      }
      String executorId = text(in);
      String host = text(in);
      ProcessStatistics process =
          new ProcessStatistics(in.readLong(), in.readLong(), in.readLong());
      int count = count(in, MOST_RANKS);
      List<RankReport> ranks = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        ranks.add(rank(in));
      }
      if (in.available() > 0) {
        throw new IOException(in.available() + " bytes too many");
      }
      return new ExecutorReport(executorId, host, process, ranks);
    } catch (IOException | UncheckedIOException e) {
      throw new IllegalArgumentException(
          "a report of " + bytes.length + " bytes that is none: " + e.getMessage(), e);
    }
  }

  private static RankReport rank(DataInputStream in) throws IOException {
    StageAttempt stage = new StageAttempt(in.readInt(), in.readInt());
    long task = in.readLong();
    boolean ended = in.readBoolean();
    byte[] failure = bytes(in, in.available());
    return new RankReport(
        stage,
        task,
        ended,
        failure.length == 0 ? Optional.empty() : Optional.of(FailureCodec.decode(failure)),
        statistics(in));
  }

  private static GroupStatistics statistics(DataInputStream in) throws IOException {
    String group = text(in);
    int rank = in.readInt();
    int size = in.readInt();
    if (rank < 0 || rank >= size) {
      throw new IOException("rank " + rank + " of " + size);
    }
    long operations = in.readLong();
    long failures = in.readLong();
    long bytes = in.readLong();
    double collective = in.readDouble();
    double outside = in.readDouble();
    int pending = in.readInt();
    double longest = in.readDouble();
    GroupStatistics.Paths paths =
        new GroupStatistics.Paths(in.readInt(), in.readInt(), in.readInt());
    int rowCount = count(in, GroupStatistics.MOST_ROWS);
    List<OperationStatistics> rows = new ArrayList<>(rowCount);
    for (int i = 0; i < rowCount; i++) {
      rows.add(
          new OperationStatistics(
              OpType.ofCode(in.readInt()),
              in.readByte(),
              text(in),
              in.readLong(),
              in.readLong(),
              in.readDouble(),
              in.readDouble(),
              in.readDouble()));
    }
    long interval = in.readLong();
    int arrivalCount = count(in, GroupStatistics.MOST_ARRIVALS);
    List<Arrival> arrivals = new ArrayList<>(arrivalCount);
    for (int i = 0; i < arrivalCount; i++) {
      arrivals.add(new Arrival(in.readLong(), in.readUnsignedByte(), in.readLong(), in.readLong()));
    }
    return new GroupStatistics(
        group,
        rank,
        size,
        operations,
        failures,
        bytes,
        collective,
        outside,
        pending,
        longest,
        paths,
        rows,
        interval,
        arrivals,
        new GroupStatistics.Progress(in.readLong(), in.readLong(), text(in)));
  }

  private static String text(DataInputStream in) throws IOException {
    return new String(bytes(in, MOST_TEXT_BYTES), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(DataInputStream in, int most) throws IOException {
    int length = count(in, Math.min(most, in.available()));
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return bytes;
  }

  private static int count(DataInputStream in, int most) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > most) {
      throw new IOException(count + " items where " + most + " are the most");
    }
    return count;
  }
}
