package org.sparkcollectives.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceTreeTest {

  @TempDir private Path root;

  @Test
  void whatBuildsMakeIsNotEntered() throws IOException {
    Path source = write("src/main/java/A.java");
    write("src/target/A.class");
    write("target/blockmgr-1/3e/block");
    write("python/__pycache__/a.pyc");
    assertThat(SourceTree.files(root)).containsExactly(source);
  }

  @Test
  void filesThatGoDuringTheWalkAreNotThere() throws Exception {
    Path stays = write("src/A.java");
    AtomicBoolean ends = new AtomicBoolean();
    CountDownLatch writes = new CountDownLatch(1);
    Thread build =
        new Thread(
            () -> {
              while (!ends.get()) {
                try {
                  for (int i = 0; i < 50; i++) {
                    write("made/" + i + "/file");
                  }
                  for (int i = 0; i < 50; i++) {
                    Files.delete(root.resolve("made/" + i + "/file"));
                    Files.delete(root.resolve("made/" + i));
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                writes.countDown();
              }
            });
    build.start();
    try {
      assertThat(writes.await(60, TimeUnit.SECONDS)).isTrue();
      for (int walk = 0; walk < 200; walk++) {
        assertThat(SourceTree.files(root)).contains(stays);
      }
    } finally {
      ends.set(true);
      build.join();
    }
  }

  @Test
  void aRootThatIsNotThereIsAnError() {
    assertThatThrownBy(() -> SourceTree.files(root.resolve("gone")))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("gone");
  }

  private Path write(String name) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, "");
  }
}
