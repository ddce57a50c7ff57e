package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

@EnabledOnOs(OS.LINUX)
class SegmentsTest {

  @TempDir Path folder;

  /** A group of a host whose shared memory is full. */
  private final ProcessGroup full =
      (ProcessGroup)
          Proxy.newProxyInstance(
              ProcessGroup.class.getClassLoader(),
              new Class<?>[] {ProcessGroup.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("allocateShared")) {
                  throw new IOException("No space left on device");
                }
                return switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> throw new UnsupportedOperationException(method.getName());
                };
              });

  @Test
  void tensorsThatFindNoRoomInMemoryLieInAFileOfTheFolder() throws IOException {
    Segments segments = new Segments(() -> folder);
    Segment segment = segments.allocate(full, 1000, true);
    try {
      Path file = Path.of(segment.shared().path());
      assertThat(Files.readSymbolicLink(file).toString())
          .startsWith(folder.toRealPath().toString())
          .endsWith("(deleted)");

      Tensor tensor =
          segment.tensor(new Request.TensorPlace(segment.id(), DType.INT64, 8, 3, List.of(3L)));
      tensor.copyFrom(new long[] {1, 2, 3});

      byte[] seen = Files.readAllBytes(file);
      int begin = (int) segment.shared().begin();
      assertThat(Arrays.copyOf(seen, segment.shared().nonce().length))
          .isEqualTo(segment.shared().nonce());
      ByteBuffer bytes = ByteBuffer.wrap(seen).order(ByteOrder.nativeOrder());
      assertThat(
              List.of(
                  bytes.getLong(begin),
                  bytes.getLong(begin + 8),
                  bytes.getLong(begin + 16),
                  bytes.getLong(begin + 24)))
          .containsExactly(0L, 1L, 2L, 3L);
    } finally {
      segments.close(true);
    }
  }

  @Test
  void whatRanksMapIsNeverAFileOfTheFolder() {
    Segments segments = new Segments(() -> folder);
    assertThatThrownBy(() -> segments.allocateForRanks(full, 1000))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("No space left");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void whereThereIsNoRoomAnywhereBothReasonsAreTold() {
    Segments segments = new Segments(() -> folder.resolve("missing"));
    assertThatThrownBy(() -> segments.allocate(full, 1000, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("missing")
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .extracting(Throwable::getMessage)
                    .containsExactly("No space left on device"));
  }

  @Test
  void aWorkerThatCannotMapHasItsTensorsInMemoryOfTheJvm() throws IOException {
    Segments segments = new Segments(() -> folder);
    Segment segment = segments.allocate(full, 64, false);
    assertThat(segment.shared()).isNull();
    segment.range(8, 1).put((byte) 7);
    Tensor tensor =
        segment.tensor(new Request.TensorPlace(segment.id(), DType.INT8, 8, 1, List.of(1L)));
    byte[] element = new byte[1];
    tensor.copyTo(element);
    assertThat(element).containsExactly(7);
    segments.close(true);
  }
}
