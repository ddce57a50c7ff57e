package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Threads;

/**
 * Tests that a process may use a file by several names, and by several copies of the library: a
 * process loses its locks on a file when it closes the file anywhere.
 */
@ExtendWith(LeakCheck.class)
@Timeout(300)
class FileStorePathsTest {

  private static final int ADDS = 2000;

  @TempDir Path folder;

  private Path path;

  @BeforeEach
  void nameTheFile() {
    path = folder.resolve("store");
    new FileStore(path, 0).close();
  }

  @Test
  void aFileIsNotClosedWhileThisProcessHasItLockedByAnotherName() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), path);
    FileLog one = new FileLog(path);
    FileLog other = new FileLog(link);
    FileLock lock = one.tryLock(true);
    assertThat(other.tryLock(false)).isNull();
    assertThat(other.tryClose()).isFalse();
    assertThat(isLockedForOthers()).isTrue();
    lock.release();
    assertThat(other.tryClose()).isTrue();
    assertThat(isLockedForOthers()).isFalse();
    assertThat(one.tryClose()).isTrue();
  }

  private boolean isLockedForOthers() throws Exception {
    try (ForkedJvm other = ForkedJvm.start(TryLock.class, path.toString())) {
      return other.exitStatus() == TryLock.LOCKED;
    }
  }

  /** Says by its status whether it can lock the file. */
  static final class TryLock {

    static final int LOCKED = 3;

    private TryLock() {}

    public static void main(String[] args) throws IOException {
      System.exit(new FileLog(Path.of(args[0])).tryLock(true) == null ? LOCKED : 0);
    }
  }

  @Test
  void twoSymbolicNamesLoseNoUpdate() throws Exception {
    Path folderLink = Files.createSymbolicLink(folder.resolve("link"), folder);
    losesNoUpdateWhile(opens(folderLink.resolve("store")));
  }

  @Test
  void twoHardLinksLoseNoUpdate() throws Exception {
    losesNoUpdateWhile(opens(Files.createLink(folder.resolve("other"), path)));
  }

  @Test
  void twoClassLoadersLoseNoUpdate() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      Class<?> copy = loader.loadClass(OpenAndAdd.class.getName());
      assertThat(copy).isNotSameAs(OpenAndAdd.class);
      @SuppressWarnings("unchecked")
      Callable<Object> open =
          (Callable<Object>) copy.getConstructor(String.class).newInstance(path.toString());
      losesNoUpdateWhile(open);
    }
  }

  private static Callable<Object> opens(Path other) {
    return new OpenAndAdd(other.toString());
  }

  private static URL[] classPath() {
    return Arrays.stream(
            System.getProperty("java.class.path").split(System.getProperty("path.separator")))
        .map(FileStorePathsTest::url)
        .toArray(URL[]::new);
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Adds in this process and in another, while {@code open} opens the same file in this process,
   * adds, and closes it, again and again.
   */
  private void losesNoUpdateWhile(Callable<Object> open) throws Exception {
    try (Threads threads = new Threads();
        ForkedJvm other = ForkedJvm.start(Adder.class, path.toString());
        Store store = new FileStore(path, 0)) {
      store.waitFor(List.of("ready"), Duration.ofSeconds(90));
      Future<Integer> adds =
          threads.start(
              () -> {
                for (int i = 0; i < ADDS; i++) {
                  store.add("count", 1);
                }
                return ADDS;
              });
      int opened = 0;
      while (!adds.isDone() || !store.check(List.of("done"))) {
        open.call();
        opened++;
      }
      adds.get();
      assertThat(other.exitStatus()).as(other.output()).isZero();
      assertThat(new String(store.get("count"), UTF_8))
          .isEqualTo(String.valueOf(2 * ADDS + opened));
    }
  }

  /** Opens a store, adds, and closes it. */
  public static final class OpenAndAdd implements Callable<Object> {

    private final Path path;

    /** Creates it for the file at {@code path}. */
    public OpenAndAdd(String path) {
      this.path = Path.of(path);
    }

    @Override
    public Object call() {
      try (Store store = new FileStore(path, 0)) {
        return store.add("count", 1);
      }
    }
  }

  /** Adds, and says so in the store. */
  static final class Adder {

    private Adder() {}

    public static void main(String[] args) {
      try (Store store = new FileStore(Path.of(args[0]), 0)) {
        store.set("ready", new byte[0]);
        for (int i = 0; i < ADDS; i++) {
          store.add("count", 1);
        }
        store.set("done", new byte[0]);
      }
    }
  }
}
