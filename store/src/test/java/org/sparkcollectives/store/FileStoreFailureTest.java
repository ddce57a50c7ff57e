package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;

/** Tests the errors for files that are no store, damaged, cut short or locked. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class FileStoreFailureTest {

  @TempDir Path folder;

  private Path path;

  @BeforeEach
  void nameTheFile() {
    path = folder.resolve("store");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void aDamagedFileIsRefusedWithThePlace() throws IOException {
    try (FileStore store = new FileStore(path, 0)) {
      store.set("k", bytes("value"));
    }
    byte[] contents = Files.readAllBytes(path);
    contents[contents.length / 2] ^= 1;
    Files.write(path, contents);
    assertThatThrownBy(() -> new FileStore(path, 0))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("is damaged at byte")
        .hasMessageContaining(path.toString());
  }

  @Test
  void whatIsNoStoreIsRefused() throws IOException {
    Files.writeString(path, "my thesis, the only copy");
    assertThatThrownBy(() -> new FileStore(path, 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("the file exists and is not a store");
    assertThat(path).hasContent("my thesis, the only copy");
    assertThatThrownBy(() -> new FileStore(folder, 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("it is a folder");
    assertThatThrownBy(() -> new FileStore(folder.resolve("no/such/store"), 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("the folder")
        .hasMessageContaining("does not exist");
  }

  @Test
  void aFileThatIsLockedForTooLongIsGivenUp() throws Exception {
    try (ForkedJvm holder = ForkedJvm.start(LockHolder.class, path.toString())) {
      holder.awaitOutput("locked");
      assertThatThrownBy(() -> new FileStore(path, 1, Duration.ofMillis(100)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("is locked by another process, for longer than 100ms");
    }
    try (FileStore store = new FileStore(path, 1)) {
      assertThat(store.numKeys()).isZero();
    }
  }

  @Test
  void anOpenThatWasGivenUpLeavesNothingInTheFile() throws Exception {
    try (FileStore first = new FileStore(path, 2)) {
      try (ForkedJvm holder = ForkedJvm.start(LockHolder.class, path.toString())) {
        holder.awaitOutput("locked");
        assertThatThrownBy(() -> new FileStore(path, 2, Duration.ofMillis(100)))
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("is locked by another process");
        holder.kill();
      }
      // By now the writing that was given up is over.
      first.set("k", bytes("v"));
    }
    assertThat(path).exists();
    new FileStore(path, 2).close();
    assertThat(path).doesNotExist();
  }

  @Test
  void aThreadThatIsInterruptedOpensNothing() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> new FileStore(path, 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("Interrupted")
        .hasMessageContaining(path.toString());
    assertThat(Thread.interrupted()).isTrue();
    new FileStore(path, 1).close();
    assertThat(path).doesNotExist();
  }

  @Test
  void aTimeoutThatNoClockCanCountIsForever() {
    try (FileStore store = new FileStore(path, 1, Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThat(store.add("n", 1)).isEqualTo(1);
    }
  }

  @Test
  void allWhoWaitInAFileThatGetsDamagedAreToldSo() throws Exception {
    try (FileStore store = new FileStore(path, 0)) {
      Map<String, CompletableFuture<Void>> calls = allThatWait(store);
      byte[] noEntry = new byte[8];
      noEntry[0] = -1;
      long place = Files.size(path);
      Files.write(path, noEntry, StandardOpenOption.APPEND);
      String told = "FileStore " + path + " is damaged at byte " + place + ". Remove it, and start";
      allAreTold(calls, told);
      assertThatThrownBy(() -> store.set("k", bytes("v")))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(told);
      assertThatThrownBy(() -> new FileStore(path, 0)).hasMessageContaining(told);
    }
  }

  @Test
  void allWhoWaitInAFileThatIsCutShortAreToldSo() throws Exception {
    try (FileStore store = new FileStore(path, 0)) {
      store.set("k", bytes("v"));
      Map<String, CompletableFuture<Void>> calls = allThatWait(store);
      long size = Files.size(path);
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
        file.setLength(5);
      }
      allAreTold(
          calls,
          "FileStore "
              + path
              + " was cut short by somebody else: "
              + size
              + " bytes were read of it, and it has 5 now. Remove it, and start");
    }
  }

  /** Returns a call of each kind that waits, on threads of their own. */
  private static Map<String, CompletableFuture<Void>> allThatWait(FileStore store) {
    Map<String, ThrowingCallable> kinds = new LinkedHashMap<>();
    kinds.put("get", () -> store.get("nothing"));
    kinds.put("waitFor", () -> store.waitFor(List.of("nothing"), Duration.ofSeconds(60)));
    kinds.put("queuePop", () -> store.queuePop("queue", true));
    kinds.put("barrier", () -> store.barrier("barrier", 2, Duration.ofSeconds(60)));
    kinds.put("watch", () -> store.watch("nothing").get(60, TimeUnit.SECONDS));
    Map<String, CompletableFuture<Void>> calls = new LinkedHashMap<>();
    kinds.forEach(
        (name, call) -> {
          CompletableFuture<Void> result = new CompletableFuture<>();
          Thread thread =
              new Thread(
                  () -> {
                    try {
                      call.call();
                      result.complete(null);
                    } catch (Throwable e) {
                      result.completeExceptionally(e);
                    }
                  },
                  "test-" + name);
          thread.setDaemon(true);
          thread.start();
          calls.put(name, result);
        });
    Eventually.holds(
        () -> store.waiterCount() == kinds.size(), () -> store.waiterCount() + " calls wait");
    return calls;
  }

  private static void allAreTold(Map<String, CompletableFuture<Void>> calls, String what) {
    calls.forEach(
        (name, call) ->
            assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                .as(name)
                .hasStackTraceContaining(what)
                .hasStackTraceContaining("StoreException"));
  }

  /** Locks the file until it is killed, or the test that started it is gone. */
  static final class LockHolder {

    private LockHolder() {}

    public static void main(String[] args) throws Exception {
      try (FileChannel channel =
              FileChannel.open(
                  Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        System.out.println("locked " + lock.isValid());
        // The test writes nothing: the read ends when the test's end of the pipe closes.
        System.out.println("read " + System.in.read());
      }
    }
  }
}
