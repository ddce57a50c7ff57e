package org.sparkcollectives.spi.failure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;

/** Encodes {@link Failure} as bytes in the store. */
public final class FailureCodec {

  private static final int VERSION = 2;

  private static final Failure.Kind[] KINDS = Failure.Kind.values();

  /**
   * The most characters of a cause that are kept: deep recursion makes stack traces of megabytes.
   */
  private static final int MAX_CAUSE_CHARACTERS = 64 * 1024;

  private FailureCodec() {}

  /** Returns the bytes of a record. */
  public static byte[] encode(Failure failure) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeByte(failure.kind().ordinal());
      out.writeInt(failure.rank());
      out.writeUTF(failure.host());
      out.writeUTF(failure.executorId());
      out.writeLong(failure.taskAttemptId());
      out.writeUTF(failure.operation());
      out.writeLong(failure.sequenceNumber());
      MismatchCodec.writeAll(out, failure.calls());
      byte[] cause = failure.cause().getBytes(StandardCharsets.UTF_8);
      out.writeInt(cause.length);
      out.write(cause);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Returns the record that {@link #encode} made the bytes of.
   *
   * @throws UncheckedIOException if it did not
   */
  public static Failure decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException("failure record of version " + version);
      }
      int code = in.readUnsignedByte();
      if (code >= KINDS.length) {
        throw new IOException("failure record of the unknown kind " + code);
      }
      int rank = in.readInt();
      String host = in.readUTF();
      String executorId = in.readUTF();
      long taskAttemptId = in.readLong();
      String operation = in.readUTF();
      long sequenceNumber = in.readLong();
      List<CollectiveCall> calls = MismatchCodec.readAll(in);
      int length = in.readInt();
      if (length != in.available()) {
        throw new IOException(
            "failure record whose cause has " + in.available() + " bytes, not " + length);
      }
      String cause = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return new Failure(
          KINDS[code],
          new RankLocation(rank, host, executorId, taskAttemptId),
          operation,
          sequenceNumber,
          cause,
          calls);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns an exception as text with its stack trace and causes. */
  public static String describe(Throwable cause) {
    StringWriter text = new StringWriter();
    cause.printStackTrace(new PrintWriter(text));
    String trace = text.toString().strip();
    return trace.length() <= MAX_CAUSE_CHARACTERS
        ? trace
        : trace.substring(0, MAX_CAUSE_CHARACTERS) + "… (" + trace.length() + " characters)";
  }
}
