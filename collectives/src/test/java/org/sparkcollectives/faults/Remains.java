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

/**
 * Finds what of the library is left in this process, in which there is no group any more. Linux
 * only.
 */
final class Remains {

  /**
   * The limit, longer than anything takes that ends by itself, such as a thread that waits for
   * work.
   */
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final String folder;

  /** The socket that the JDK itself keeps to put in place of one that is being closed. */
  private final Set<String> ofJdk;

  /**
   * Creates the check in a process that has not used the library yet.
   *
   * @param folder where shared memory is made
   */
  Remains(String folder) throws IOException {
    this.folder = folder;
    SocketChannel.open().close();
    this.ofJdk = Set.copyOf(descriptors());
  }

  /**
   * Returns what is left when nothing more goes away; normally empty. The memory of a tensor is
   * freed by garbage collection, because a user may hold the tensor.
   */
  List<String> await() {
    System.gc();
    long start = System.nanoTime();
    List<String> left = now();
    while (!left.isEmpty() && System.nanoTime() - start < LIMIT_NANOS) {
      LockSupport.parkNanos(PAUSE_NANOS);
      // It is collected again, because a thread that ended after the last collection may have held
      // something.
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

  /** Returns sockets, selectors, and files of shared memory. */
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
      // The descriptor was closed after it was listed.
      return "";
    }
  }
}
