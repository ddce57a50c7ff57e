package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.LeakCheck;

/** Tests the file under a FileStore, with several processes that use it. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class FileStoreFilesTest {

  private static final int PROCESSES = 3;

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
  void theLastHandleRemovesTheFile() {
    FileStore first = new FileStore(path, 2);
    FileStore second = new FileStore(path, 2);
    first.close();
    second.set("k", bytes("v"));
    assertThat(path).exists();
    second.close();
    assertThat(path).doesNotExist();
  }

  @Test
  void aHandleThatComesWhenAllOthersHaveGoneFindsTheirData() {
    try (FileStore first = new FileStore(path, 2)) {
      first.set("k", bytes("v"));
    }
    try (FileStore second = new FileStore(path, 2)) {
      assertThat(second.get("k")).asString().isEqualTo("v");
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void withoutAWorldSizeTheFileStays() {
    try (FileStore store = new FileStore(path, 0)) {
      store.add("n", 7);
    }
    try (FileStore store = new FileStore(path, -1)) {
      assertThat(store.add("n", 1)).isEqualTo(8);
    }
    assertThat(path).exists();
  }

  @Test
  void whatAKilledWriterLeftIsCutOff() throws IOException {
    try (FileStore store = new FileStore(path, 0)) {
      store.set("k", bytes("whole"));
    }
    byte[] whole = Files.readAllBytes(path);
    for (int torn : new int[] {1, 7, 8, 20}) {
      Files.write(path, whole);
      byte[] half = new byte[torn];
      half[0] = 0;
      if (torn > 3) {
        half[3] = 100;
      }
      Files.write(path, half, StandardOpenOption.APPEND);
      try (FileStore store = new FileStore(path, 0)) {
        assertThat(store.get("k")).asString().isEqualTo("whole");
        store.set("k", bytes("again " + torn));
      }
      try (FileStore store = new FileStore(path, 0)) {
        assertThat(store.get("k")).asString().isEqualTo("again " + torn);
      }
    }
  }

  @Test
  void processesCountTakeAndMeetInOneFile() throws Exception {
    List<ForkedJvm> processes = new ArrayList<>();
    try {
      for (int rank = 0; rank < PROCESSES; rank++) {
        processes.add(ForkedJvm.start(Worker.class, path.toString(), String.valueOf(rank)));
      }
      for (ForkedJvm process : processes) {
        assertThat(process.exitStatus()).as(process.output()).isZero();
        assertThat(process.output()).contains("total " + PROCESSES * Worker.ROUNDS);
      }
      assertThat(path).doesNotExist();
    } finally {
      processes.forEach(ForkedJvm::close);
    }
  }

  /** Counts, passes a value around a ring of queues, and meets the others, again and again. */
  static final class Worker {

    static final int ROUNDS = 100;

    private Worker() {}

    public static void main(String[] args) {
      int rank = Integer.parseInt(args[1]);
      try (Store store = new FileStore(Path.of(args[0]), PROCESSES)) {
        for (int round = 0; round < ROUNDS; round++) {
          store.add("count", 1);
          store.queuePush("to " + (rank + 1) % PROCESSES, bytes(round + " from " + rank));
          String got = new String(store.queuePop("to " + rank, true), UTF_8);
          if (!got.equals(round + " from " + (rank + PROCESSES - 1) % PROCESSES)) {
            throw new IllegalStateException("got " + got);
          }
        }
        store.barrier("end", PROCESSES, Duration.ofSeconds(60));
        System.out.println("total " + new String(store.get("count"), UTF_8));
      }
    }
  }

  @Test
  void aProcessThatIsKilledWhileItWritesLeavesAStoreThatWorks() throws Exception {
    try (FileStore store = new FileStore(path, 0)) {
      long count = 0;
      for (int i = 0; i < 3; i++) {
        try (ForkedJvm writer = ForkedJvm.start(Writer.class, path.toString())) {
          writer.awaitOutput("writing");
          store.waitFor(List.of("from " + i), Duration.ofSeconds(60));
          writer.kill();
        }
        long next = store.add("written", 0);
        assertThat(next).isGreaterThan(count);
        count = next;
        store.deleteKey("generation");
        store.set("generation", bytes(String.valueOf(i + 1)));
      }
      assertThat(store.get("written")).asString().isEqualTo(String.valueOf(count));
    }
    try (FileStore again = new FileStore(path, 0)) {
      assertThat(again.get("generation")).asString().isEqualTo("3");
    }
  }

  /** Writes until it is killed. */
  static final class Writer {

    private Writer() {}

    public static void main(String[] args) {
      try (Store store = new FileStore(Path.of(args[0]), 0)) {
        store.compareSet("generation", new byte[0], bytes("0"));
        String generation = new String(store.get("generation"), UTF_8);
        System.out.println("writing");
        byte[] large = new byte[1 << 20];
        for (int i = 0; ; i++) {
          store.set("large", large);
          store.add("written", 1);
          if (i == 3) {
            store.set("from " + generation, large);
          }
        }
      }
    }
  }
}
