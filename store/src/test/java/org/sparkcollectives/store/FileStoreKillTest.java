package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests every state in which a kill can leave the file: after each byte that is written, and, where
 * there is strace, at each system call.
 */
@ExtendWith(LeakCheck.class)
@Timeout(900)
class FileStoreKillTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final long COUNT = 3;

  @TempDir Path folder;

  private Path path;

  @BeforeEach
  void nameTheFile() {
    path = folder.resolve("store");
  }

  /** Uses a store, and closes it, which removes the file. */
  static final class Life {

    private Life() {}

    public static void main(String[] args) {
      live(Path.of(args[0]));
    }

    static void live(Path path) {
      try (FileStore store = new FileStore(path, 1, TIMEOUT)) {
        store.set("key", "value".getBytes(UTF_8));
        store.queuePush("queue", new byte[] {1});
        store.queuePop("queue", true);
        store.add("count", COUNT);
      }
    }
  }

  /** Opens what a {@link Life} that was killed has left, and tests that it works. */
  private void assertUsable(String killed) throws IOException {
    FileStore store = new FileStore(path, 1, TIMEOUT);
    try {
      long before = store.add("count", 0);
      assertThat(before).as(killed).isIn(0L, COUNT);
      if (before == COUNT) {
        assertThat(store.get("key")).as(killed).asString().isEqualTo("value");
      }
      assertThat(store.queueLength("queue")).as(killed).isLessThanOrEqualTo(1);
      assertThat(store.add("count", 1)).as(killed).isEqualTo(before + 1);
    } finally {
      store.close();
      // A run that was killed leaves its file, see FileStore.
      Files.deleteIfExists(path);
    }
  }

  /** Returns the bytes that a {@link Life} writes. */
  private byte[] bytesOfALife() throws IOException {
    Path other = folder.resolve("other");
    Files.createFile(path);
    Files.createLink(other, path);
    Life.live(path);
    assertThat(path).doesNotExist();
    byte[] bytes = Files.readAllBytes(other);
    Files.delete(other);
    return bytes;
  }

  @Test
  void aWriterMayBeKilledAfterEachByte() throws IOException {
    byte[] life = bytesOfALife();
    for (int length = 0; length <= life.length; length++) {
      Files.write(path, Arrays.copyOf(life, length));
      assertUsable("after " + length + " bytes");
    }
  }

  @Test
  void whoFindsAFileThatItsLastHandleCouldNotRemoveRemovesIt() throws IOException {
    Files.write(path, bytesOfALife());
    FileStore store = new FileStore(path, 1, TIMEOUT);
    assertThat(store.numKeys()).isZero();
    store.close();
    assertThat(path).doesNotExist();
  }

  @Test
  void byAnyOtherNameTheFileIsRemovedToo() throws IOException {
    Path link = Files.createLink(folder.resolve("link"), path(new byte[0]));
    Path symbolic = Files.createSymbolicLink(folder.resolve("symbolic"), link);
    Life.live(path);
    assertThat(path).doesNotExist();
    assertThat(link).exists();
    Life.live(symbolic);
    assertThat(link).doesNotExist();
    Life.live(symbolic);
    assertThat(link).doesNotExist();
  }

  private Path path(byte[] contents) throws IOException {
    return Files.write(path, contents);
  }

  /** A system call of a thread on the file, counted by its name as strace counts. */
  private record SystemCall(String name, int count) {}

  @Test
  void aWriterMayBeKilledAtTheSystemCallsOfTheEnd() throws Exception {
    List<SystemCall> calls = systemCalls();
    for (SystemCall call : calls) {
      if (call.name().startsWith("unlink")) {
        killAt(call);
      }
    }
    killAt(calls.get(calls.size() - 1));
  }

  @Test
  @Tag("faults")
  void aWriterMayBeKilledAtEachSystemCall() throws Exception {
    for (SystemCall call : systemCalls()) {
      killAt(call);
    }
  }

  /** Returns the system calls on the file of a {@link Life}, in their order. */
  private List<SystemCall> systemCalls() throws Exception {
    assumeTrue(hasStrace(), "no strace, or it may not trace");
    Path trace = folder.resolve("trace");
    try (ForkedJvm life = ForkedJvm.startUnder(strace(trace), Life.class, path.toString())) {
      assertThat(life.exitStatus()).as(life.output()).isZero();
    }
    Map<String, Integer> counts = new HashMap<>();
    List<SystemCall> calls = new ArrayList<>();
    for (String line : Files.readAllLines(trace)) {
      Matcher call = Pattern.compile("(\\d+) +(\\w+)\\(.*").matcher(line);
      if (call.matches()) {
        int count = counts.merge(call.group(1) + " " + call.group(2), 1, Integer::sum);
        calls.add(new SystemCall(call.group(2), count));
      }
    }
    assertThat(calls)
        .extracting(SystemCall::name)
        .contains("pwrite64", "fcntl")
        .anyMatch(name -> name.startsWith("unlink"));
    return calls;
  }

  private void killAt(SystemCall call) throws Exception {
    Path trace = folder.resolve("trace");
    List<String> command = new ArrayList<>(strace(trace));
    command.add("-e");
    command.add("inject=" + call.name() + ":signal=KILL:when=" + call.count());
    try (ForkedJvm life = ForkedJvm.startUnder(command, Life.class, path.toString())) {
      assertThat(life.exitStatus()).as(call + life.output()).isNotZero();
    }
    assertUsable("at " + call);
  }

  private List<String> strace(Path trace) {
    return List.of("strace", "-f", "-o", trace.toString(), "-P", path.toString());
  }

  private boolean hasStrace() throws InterruptedException {
    try {
      return new ProcessBuilder("strace", "-o", folder.resolve("trial").toString(), "true")
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
