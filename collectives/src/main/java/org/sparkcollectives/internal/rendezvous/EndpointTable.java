package org.sparkcollectives.internal.rendezvous;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;

/**
 * The endpoint table of a group, which all its ranks read at the rendezvous as one value in the
 * store: where each rank is, and the group's secret.
 *
 * <p>Each rank reads all of it, so n ranks move n times its size. Therefore it contains what the
 * ranks of one JVM have in common only once, and a rank adds 16 bytes.
 *
 * @param secret what the connections of the group are authenticated with
 * @param endpoints where each rank is, in rank order
 */
record EndpointTable(byte[] secret, List<Endpoint> endpoints) {

  private static final int VERSION = 1;

  /** The bytes of a rank beside those of its JVM. */
  private static final int RANK_BYTES = 2 * Integer.BYTES + Long.BYTES;

  byte[] encode() {
    Map<NodeAddress, Integer> nodes = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      nodes.putIfAbsent(endpoint.node(), nodes.size());
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeByte(secret.length);
      out.write(secret);
      out.writeInt(nodes.size());
      for (NodeAddress node : nodes.keySet()) {
        byte[] encoded = EndpointCodec.encode(new Endpoint(0, node, 0));
        out.writeInt(encoded.length);
        out.write(encoded);
      }
      out.writeInt(endpoints.size());
      for (Endpoint endpoint : endpoints) {
        out.writeInt(endpoint.rank());
        out.writeInt(nodes.get(endpoint.node()));
        out.writeLong(endpoint.taskAttemptId());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static EndpointTable decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException(
            "a rank of another version of this library: table of version " + version);
      }
      byte[] secret = in.readNBytes(in.readUnsignedByte());
      NodeAddress[] nodes = new NodeAddress[count(in, Integer.BYTES)];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = EndpointCodec.decode(in.readNBytes(count(in, 1))).node();
      }
      int size = count(in, RANK_BYTES);
      List<Endpoint> endpoints = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        int rank = in.readInt();
        int number = in.readInt();
        if (number < 0 || number >= nodes.length) {
          throw new IOException("an endpoint table with rank " + rank + " at no node");
        }
        endpoints.add(new Endpoint(rank, nodes[number], in.readLong()));
      }
      return new EndpointTable(secret, List.copyOf(endpoints));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads the number of parts, and checks that they can be there, before memory is allocated for
   * them.
   */
  private static int count(DataInputStream in, int bytesEach) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available() / bytesEach) {
      throw new IOException(
          "an endpoint table that announces " + count + " parts in " + in.available() + " bytes");
    }
    return count;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EndpointTable table
        && Arrays.equals(secret, table.secret)
        && endpoints.equals(table.endpoints);
  }

  @Override
  public int hashCode() {
    return endpoints.hashCode();
  }

  /** Returns the endpoints, without the secret. */
  @Override
  public String toString() {
    return endpoints.size() + " ranks";
  }
}
