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
import org.sparkcollectives.testing.LeakCheck;

/** Tests who may open a file that processes of one host share. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedFileTest {

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
}
