package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.Eventually;

/** A bell in one rank that others ring. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class DoorbellTest {

  private final Doorbell owner = new Doorbell(Runnable::run);
  private final Doorbell other = new Doorbell(Runnable::run);

  /** Rings in a process of its own: process, descriptor, pipe. */
  static final class Ringer {
    private Ringer() {}

    public static void main(String[] args) {
      Doorbell bell = new Doorbell(Runnable::run);
      bell.ring(
          new Doorbell.Key(
              Integer.parseInt(args[0]), Integer.parseInt(args[1]), Long.parseLong(args[2])));
      bell.close();
    }
  }

  @AfterEach
  void close() {
    owner.close();
    other.close();
  }

  private static boolean wakes(Doorbell bell) throws IOException {
    try (Selector selector = Selector.open()) {
      bell.channel().register(selector, SelectionKey.OP_READ);
      return selector.select(Eventually.LIMIT.toMillis()) == 1;
    }
  }

  private static boolean isSilent(Doorbell bell) throws IOException {
    try (Selector selector = Selector.open()) {
      bell.channel().register(selector, SelectionKey.OP_READ);
      return selector.selectNow() == 0;
    }
  }

  @Test
  void aBellWakesUntilItIsSilenced() throws IOException {
    assertThat(owner.isOpen()).isTrue();
    assertThat(isSilent(owner)).isTrue();
    other.ring(owner.key());
    assertThat(wakes(owner)).isTrue();
    assertThat(wakes(owner)).isTrue();
    assertThat(owner.silence()).isTrue();
    assertThat(isSilent(owner)).isTrue();
    assertThat(owner.silence()).isFalse();
    assertThat(owner.rung()).isEqualTo(1);
  }

  @Test
  void anotherProcessRingsIt() throws Exception {
    assertThat(owner.isOpen()).isTrue();
    Doorbell.Key key = owner.key();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Ringer.class.getName()));
    command.addAll(
        List.of(
            String.valueOf(key.process()),
            String.valueOf(key.descriptor()),
            String.valueOf(key.pipe())));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      assertThat(wakes(owner)).isTrue();
      assertThat(process.waitFor(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    owner.silence();
    assertThat(owner.rung()).isEqualTo(1);
  }

  @Test
  void manyBellsOfOneJvmAreToldApart() throws IOException {
    List<Doorbell> bells = new ArrayList<>();
    try {
      Set<Doorbell.Key> keys = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        Doorbell bell = new Doorbell(Runnable::run);
        bells.add(bell);
        assertThat(bell.isOpen()).isTrue();
        keys.add(bell.key());
      }
      assertThat(keys).hasSize(bells.size());
      for (Doorbell each : bells) {
        other.ring(each.key());
        assertThat(wakes(each)).isTrue();
      }
    } finally {
      bells.forEach(Doorbell::close);
    }
  }

  @Test
  void aFileThatHasTheDescriptorOfAPipeNowIsNotWrittenTo(@TempDir Path folder) throws IOException {
    assertThat(owner.isOpen()).isTrue();
    Path name = folder.resolve("data");
    try (RandomAccessFile file = new RandomAccessFile(name.toFile(), "rw")) {
      Doorbell.Key key = owner.key();
      other.ring(new Doorbell.Key(key.process(), descriptorOf(name), key.pipe()));
      assertThat(file.length()).isZero();
    }
  }

  private static int descriptorOf(Path name) throws IOException {
    for (Path each : descriptors()) {
      if (Files.readSymbolicLink(each).equals(name.toRealPath())) {
        return Integer.parseInt(each.getFileName().toString());
      }
    }
    throw new AssertionError(name + " is not open");
  }

  private static List<Path> descriptors() throws IOException {
    List<Path> open = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : all) {
        if (Files.exists(each)) {
          open.add(each);
        }
      }
    }
    return open;
  }

  @Test
  void whoIsGoneIsRungInVain() throws IOException {
    assertThat(owner.isOpen()).isTrue();
    Doorbell.Key key = owner.key();
    other.ring(key);
    owner.close();
    for (int i = 0; i < 3; i++) {
      other.ring(key);
      new Doorbell(Runnable::run).ring(key);
    }
    other.ring(new Doorbell.Key(Integer.MAX_VALUE, 3, 4));
    assertThat(owner.isOpen()).isFalse();
    assertThat(owner.silence()).isFalse();
    assertThatThrownBy(owner::channel).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void whatABellLogsIsRunAsItsOwnerSays() {
    List<Runnable> logged = new ArrayList<>();
    try (Doorbell bell = new Doorbell(logged::add)) {
      assertThat(bell.ring(new Doorbell.Key(Integer.MAX_VALUE, 3, 4))).isFalse();
    }
    assertThat(logged).hasSize(1);
  }

  @Test
  void aClosedBellKeepsNoDescriptor() throws IOException {
    assertThat(owner.isOpen()).isTrue();
    String pipe = "pipe:[" + owner.key().pipe() + "]";
    other.ring(owner.key());
    assertThat(links()).filteredOn(pipe::equals).hasSize(3);
    owner.close();
    other.close();
    assertThat(links()).doesNotContain(pipe);
  }

  private static List<String> links() throws IOException {
    List<String> links = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : all) {
        try {
          links.add(Files.readSymbolicLink(each).toString());
        } catch (IOException e) {
          // Closed since it was listed.
          links.add("");
        }
      }
    }
    return links;
  }
}
