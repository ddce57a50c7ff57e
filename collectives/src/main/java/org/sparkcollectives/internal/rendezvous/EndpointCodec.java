package org.sparkcollectives.internal.rendezvous;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;

/** Encodes an {@link Endpoint} as bytes for the store. */
final class EndpointCodec {

  private static final int VERSION = 4;

  private EndpointCodec() {}

  static byte[] encode(Endpoint endpoint) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeInt(endpoint.rank());
      out.writeUTF(endpoint.nodeId());
      out.writeUTF(endpoint.node().place().id());
      out.writeInt(endpoint.node().place().processors());
      out.writeBoolean(endpoint.node().place().hasSharedMemory());
      out.writeUTF(endpoint.node().place().rack());
      out.writeUTF(endpoint.host());
      out.writeInt(endpoint.port());
      out.writeUTF(endpoint.executorId());
      out.writeLong(endpoint.taskAttemptId());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static Endpoint decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException(
            "a rank of another version of this library: endpoint of version " + version);
      }
      return new Endpoint(
          in.readInt(),
          new NodeAddress(
              in.readUTF(),
              new Place(in.readUTF(), in.readInt(), in.readBoolean(), in.readUTF()),
              in.readUTF(),
              in.readInt(),
              in.readUTF()),
          in.readLong());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
