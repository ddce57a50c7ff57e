package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * Measures the time that a few bytes need to the other side and back with nothing between the two
 * sides: no library, no records, no deadline; both spin. It is the shortest time that a path
 * allows, for comparison.
 *
 * <p>{@code examples/comparison} runs it with the path and the seconds; it prints the median in
 * microseconds.
 */
final class RoundTrip {

  private interface Step {
    void run() throws IOException;
  }

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** Far enough apart that no processor has both in one cache line. */
  private static final int CALL = 0;

  private static final int ANSWER = 256;
  private static final int MEMORY_BYTES = 512;
  private static final int ROUND_TRIPS_IN_BLOCK = 100;
  private static final long LAST = -1;

  private RoundTrip() {}

  /**
   * Runs the program. Arguments: {@code jvm} (threads), {@code host} (processes with shared memory)
   * or {@code tcp}, and the seconds. With a third argument, the file or port, this is the other
   * side.
   */
  public static void main(String[] args) throws Exception {
    String path = args[0];
    if (args.length == 3) {
      answerFrom(path, args[2]);
      return;
    }
    Duration time = Duration.ofNanos((long) (Double.parseDouble(args[1]) * 1e9));
    double micros =
        switch (path) {
          case "jvm" -> betweenThreads(time);
          case "host" -> betweenProcesses(time);
          case "tcp" -> overTcp(time);
          default -> throw new IllegalArgumentException(path + " is none of jvm, host, tcp");
        };
    System.out.printf(Locale.ROOT, "%.3f%n", micros);
  }

  private static double betweenThreads(Duration time) throws IOException {
    ByteBuffer memory = ByteBuffer.allocateDirect(MEMORY_BYTES).order(ByteOrder.nativeOrder());
    Thread other = new Thread(() -> answerAll(memory), "round-trip");
    other.setDaemon(true);
    other.start();
    return callAll(memory, time);
  }

  private static double betweenProcesses(Duration time) throws IOException {
    Path memory = Path.of("/dev/shm");
    Path file =
        Files.createTempFile(
            Files.isDirectory(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir")),
            "round-trip-",
            null);
    try {
      ByteBuffer mapped = map(file);
      Process other = fork("host", file.toString());
      try {
        return callAll(mapped, time);
      } finally {
        other.destroy();
      }
    } finally {
      Files.delete(file);
    }
  }

  private static double overTcp(Duration time) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Process other =
          fork("tcp", String.valueOf(((InetSocketAddress) server.getLocalAddress()).getPort()));
      try (SocketChannel channel = spinning(server.accept())) {
        ByteBuffer few = ByteBuffer.allocateDirect(4);
        return measure(
            time,
            () -> {
              write(channel, few);
              read(channel, few);
            });
      } finally {
        other.destroy();
      }
    }
  }

  private static void answerFrom(String path, String where) throws IOException {
    if (path.equals("host")) {
      answerAll(map(Path.of(where)));
      return;
    }
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(where));
    try (SocketChannel channel = spinning(SocketChannel.open(address))) {
      ByteBuffer few = ByteBuffer.allocateDirect(4);
      while (read(channel, few)) {
        write(channel, few);
      }
    }
  }

  // Through memory.

  private static ByteBuffer map(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel
          .map(FileChannel.MapMode.READ_WRITE, 0, MEMORY_BYTES)
          .order(ByteOrder.nativeOrder());
    }
  }

  private static double callAll(ByteBuffer memory, Duration time) throws IOException {
    long[] number = {0};
    double micros =
        measure(
            time,
            () -> {
              long next = ++number[0];
              LONGS.setRelease(memory, CALL, next);
              while ((long) LONGS.getAcquire(memory, ANSWER) != next) {
                Thread.onSpinWait();
              }
            });
    LONGS.setRelease(memory, CALL, LAST);
    return micros;
  }

  private static void answerAll(ByteBuffer memory) {
    long last = 0;
    while (last != LAST) {
      long called = (long) LONGS.getAcquire(memory, CALL);
      if (called == last) {
        Thread.onSpinWait();
      } else {
        last = called;
        LONGS.setRelease(memory, ANSWER, called);
      }
    }
  }

  // Over TCP.

  private static SocketChannel spinning(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    return channel;
  }

  private static void write(SocketChannel channel, ByteBuffer few) throws IOException {
    few.clear();
    while (few.hasRemaining()) {
      channel.write(few);
    }
  }

  private static boolean read(SocketChannel channel, ByteBuffer few) throws IOException {
    few.clear();
    while (few.hasRemaining()) {
      if (channel.read(few) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns the median of blocks, after a warm-up of the same time for the compiler. */
  private static double measure(Duration time, Step step) throws IOException {
    block(step);
    long[] nanos = {};
    for (int pass = 0; pass < 2; pass++) {
      LongStream.Builder blocks = LongStream.builder();
      long start = System.nanoTime();
      while (System.nanoTime() - start < time.toNanos()) {
        blocks.add(block(step));
      }
      nanos = blocks.build().sorted().toArray();
    }
    return nanos[nanos.length / 2] / 1e3 / ROUND_TRIPS_IN_BLOCK;
  }

  private static long block(Step step) throws IOException {
    long start = System.nanoTime();
    for (int i = 0; i < ROUND_TRIPS_IN_BLOCK; i++) {
      step.run();
    }
    return System.nanoTime() - start;
  }

  private static Process fork(String path, String where) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            RoundTrip.class.getName(),
            path,
            "",
            where)
        .redirectError(Redirect.INHERIT)
        .start();
  }
}
