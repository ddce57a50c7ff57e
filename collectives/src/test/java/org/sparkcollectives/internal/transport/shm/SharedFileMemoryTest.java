package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.testing.LeakCheck;

/** Tests the bounds of memory in a shared file. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedFileMemoryTest {

  @Test
  void givesNoTensorThatIsNotWithinIt(@TempDir Path folder) throws IOException {
    SharedMemory closed;
    try (SharedMemory memory = SharedFileMemory.create(folder, 1000)) {
      assertThat(memory.bytes()).isEqualTo(1000);
      assertThat(memory.tensor(DType.INT64, 0, 125).count()).isEqualTo(125);
      assertThat(memory.tensor(DType.INT8, 1000, 0).count()).isZero();
      for (long[] outside :
          new long[][] {{0, 126}, {8, 125}, {-8, 1}, {1001, 0}, {0, -1}, {0, Long.MAX_VALUE}}) {
        assertThatThrownBy(() -> memory.tensor(DType.INT64, outside[0], outside[1]))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("not within the 1,000 bytes");
      }
      closed = memory;
    }
    assertThatThrownBy(() -> closed.tensor(DType.INT8, 0, 1))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> SharedFileMemory.create(folder, 1L << 31))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("2,147,483,648 bytes are more than");
    assertThat(folder).isEmptyDirectory();
  }
}
