package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.LeakCheck;

/** Tests who may open a file that processes of one host share. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedFileTest {

  private static final int PAGE = 4096;
  private static final int PAGES = 2048;

  @Test
  void isOpenedOnlyByThoseWhoKnowItsNonce(@TempDir Path folder) throws Exception {
    try (SharedFile made = SharedFile.create(folder, 1000)) {
      assertThat(folder).isEmptyDirectory();
      SharedFile.open(made.key(), made.nonce(), 1000).close();
      byte[] other = made.nonce();
      other[3]++;
      assertThatThrownBy(() -> SharedFile.open(made.key(), other, 1000))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is another file here");
      assertThatThrownBy(() -> SharedFile.open(made.key(), made.nonce(), 2000))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> SharedFile.open(new SharedFile.Key(1, 999_999), made.nonce(), 1000))
          .isInstanceOf(IOException.class);
    }
  }

  /** The faults of 64 MiB take longer than to write them. */
  @Test
  void itsPagesAreMappedBeforeTheFirstWrite() throws Exception {
    byte[] written = new byte[PAGE];
    Arrays.fill(written, (byte) 1);
    try (SharedFile made = SharedFile.create(Path.of("/dev/shm"), PAGES * PAGE)) {
      ByteBuffer memory = made.memory();
      long before = pageFaults();
      for (int page = 0; page < PAGES; page++) {
        memory.put(page * PAGE, written);
      }
      assertThat(pageFaults() - before).isLessThan(PAGES / 4);
    }
  }

  /** Returns how many pages were mapped for this thread so far. */
  private static long pageFaults() throws IOException {
    String fields = Files.readString(Path.of("/proc/thread-self/stat"));
    return Long.parseLong(fields.substring(fields.lastIndexOf(')') + 2).split(" ", -1)[7]);
  }
}
