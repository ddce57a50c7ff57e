package org.sparkcollectives.spark.internal.protocol;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The request of a replica for the quorum of its next step.
 *
 * @param handle names it in the next group
 * @param layout names, types and sizes of its state
 * @param version of its state
 * @param failed whether its group is of no use any more
 * @param unreachable the incarnations of members that do not respond
 */
public record QuorumRequest(
    String handle, String layout, StateVersion version, boolean failed, List<Long> unreachable) {

  public QuorumRequest {
    unreachable = List.copyOf(unreachable);
  }

  /** Returns the bytes of the request. */
  public byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  void write(DataOutputStream out) throws IOException {
    out.writeUTF(handle);
    out.writeUTF(layout);
    out.writeLong(version.quorum());
    out.writeLong(version.step());
    out.writeBoolean(failed);
    out.writeInt(unreachable.size());
    for (long each : unreachable) {
      out.writeLong(each);
    }
  }

  /**
   * Returns the request that {@link #encode} made the bytes of.
   *
   * @throws IllegalArgumentException if it did not
   */
  public static QuorumRequest decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return read(in);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "a message of " + bytes.length + " bytes that is no request: " + e, e);
    }
  }

  static QuorumRequest read(DataInputStream in) throws IOException {
    String handle = in.readUTF();
    String layout = in.readUTF();
    StateVersion version = new StateVersion(in.readLong(), in.readLong());
    boolean failed = in.readBoolean();
    List<Long> unreachable = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      unreachable.add(in.readLong());
    }
    return new QuorumRequest(handle, layout, version, failed, unreachable);
  }
}
