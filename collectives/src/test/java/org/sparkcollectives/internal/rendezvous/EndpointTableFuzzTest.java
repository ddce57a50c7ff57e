package org.sparkcollectives.internal.rendezvous;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;

/**
 * Tests that any bytes in the store are either an endpoint table, or refused with no more memory
 * than they take themselves.
 */
class EndpointTableFuzzTest {

  static Stream<byte[]> seeds() {
    Endpoint first =
        new Endpoint(
            0, new NodeAddress("node-a", new Place("host-a", 4, true), "10.0.0.1", 7000, "1"), 11);
    Endpoint second =
        new Endpoint(
            1, new NodeAddress("node-a", new Place("host-a", 4, true), "10.0.0.1", 7000, "1"), 12);
    Endpoint third =
        new Endpoint(
            2,
            new NodeAddress("node-b", new Place("host-b", 4, true, "/b"), "10.0.0.2", 7000, "2"),
            13);
    return Stream.of(
        new EndpointTable("secret".getBytes(UTF_8), List.of(first, second, third)).encode(),
        new EndpointTable(new byte[0], List.of(first)).encode(),
        // This is a group of two thousand million ranks.
        new byte[] {1, 0, 0x7f, -1, -1, -1},
        new byte[] {1, 0, -1, -1, -1, -1},
        new byte[] {1, 0, 0, 0, 0, 1, -1, -1, -1, -1},
        new byte[] {1, 0, 0, 0, 0, 0, 0x7f, -1, -1, -1},
        new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9});
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAnEndpointTableOrRefused(byte[] bytes) {
    EndpointTable table;
    try {
      table = EndpointTable.decode(bytes);
    } catch (UncheckedIOException e) {
      return;
    }
    assertThat(EndpointTable.decode(table.encode())).isEqualTo(table);
  }
}
