package org.sparkcollectives.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** What of the library is left in this process, in which there is no group any more. Linux only. */
final class Remains {

  /** Longer than anything takes that ends by itself, such as a thread that waits for work. */
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final String folder;

  /** The JDK itself keeps a socket, with which it takes the place of one that is being closed. */
  private final Set<String> ofJdk;

  /**
   * For a process in which nothing of the library has been yet.
   *
   * @param folder where shared memory is made
   */
  Remains(String folder) throws IOException {
    this.folder = folder;
    SocketChannel.open().close();
    this.ofJdk = Set.copyOf(descriptors());
  }

  /**
   * What is left when nothing more goes away; normally empty. The memory of a tensor goes when the
   * garbage is collected, because a user may hold it.
   */
  List<String> await() {
    System.gc();
    long start = System.nanoTime();
    List<String> left = now();
    while (!left.isEmpty() && System.nanoTime() - start < LIMIT_NANOS) {
      LockSupport.parkNanos(PAUSE_NANOS);
      // Again: a thread that ended after the last one may have had hold of it.
      System.gc();
      left = now();
    }
    return left;
  }

  private List<String> now() {
    List<String> left = new ArrayList<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().contains("collectives-")) {
        left.add("thread " + thread.getName());
      }
    }
    for (String each : descriptors()) {
      if (!ofJdk.contains(each)) {
        left.add("descriptor of " + each);
      }
    }
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      maps.filter(each -> each.contains(folder)).forEach(each -> left.add("memory " + each));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return left;
  }

  /** Sockets, what waits for them, and files of shared memory. */
  private List<String> descriptors() {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .map(Remains::target)
          .filter(each -> each.matches("(socket|anon_inode):.*") || each.startsWith(folder))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      // Closed since it was listed.
      return "";
    }
  }
}
