package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a process copes with anything that others write into the file of a store: each entry
 * is carried out, was refused to its writer, or is reported as no entry.
 */
class FileEntryFuzzTest {

  static Stream<byte[]> seeds() {
    byte[] value = "value".getBytes(UTF_8);
    return Stream.of(
        stream(
            FileEntry.of(FileEntry.Kind.OPENED),
            request(1, StoreOperation.SET, 0, List.of("a"), value),
            request(2, StoreOperation.ADD, 1, List.of("a")),
            request(3, StoreOperation.QUEUE_POLL, 0, List.of("a")),
            FileEntry.of(FileEntry.Kind.CLOSED),
            FileEntry.of(FileEntry.Kind.REMOVED)),
        stream(
            request(1, StoreOperation.BARRIER, 2, List.of("all")),
            request(1, StoreOperation.BARRIER, 2, List.of("all")),
            request(3, StoreOperation.BARRIER, 3, List.of("all")),
            request(2, StoreOperation.EXPIRE, 1, List.of()),
            request(4, StoreOperation.GET, 0, List.of("b"))));
  }

  private static FileEntry request(
      long id, StoreOperation operation, long number, List<String> keys, byte[]... values) {
    return FileEntry.request(
        7, id, StoreRequest.of(operation, keys, List.of(values), number, Duration.ofMillis(5)));
  }

  private static byte[] stream(FileEntry... entries) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    for (FileEntry entry : entries) {
      ByteBuffer[] parts = entry.encode();
      int length = parts[0].remaining() + parts[1].remaining();
      stream.writeBytes(ByteBuffer.allocate(2).putShort((short) length).array());
      for (ByteBuffer part : parts) {
        byte[] bytes = new byte[part.remaining()];
        part.get(bytes);
        stream.writeBytes(bytes);
      }
    }
    return stream.toByteArray();
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyEntryIsCarriedOutOrWasRefusedOrIsNone(byte[] input) {
    FileContents contents = new FileContents();
    ByteBuffer in = ByteBuffer.wrap(input);
    while (in.remaining() >= Short.BYTES) {
      int length = Math.min(Math.floorMod(in.getShort(), 1 << 10), in.remaining());
      ByteBuffer bytes = in.slice(in.position(), length);
      in.position(in.position() + length);
      FileEntry entry;
      try {
        entry = FileEntry.decode(bytes);
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessageContaining("unknown kind");
        continue;
      }
      contents.replay(entry);
    }
    assertThat(contents.table().list("")).doesNotContainNull();
  }
}
