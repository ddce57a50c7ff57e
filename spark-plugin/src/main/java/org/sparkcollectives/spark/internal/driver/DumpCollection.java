package org.sparkcollectives.spark.internal.driver;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.recorder.DumpFolder;
import org.sparkcollectives.recorder.FlightTrace;
import org.sparkcollectives.recorder.TraceAnalysis;
import org.sparkcollectives.spark.internal.protocol.DriverThreads;
import org.sparkcollectives.spark.internal.protocol.PackedDump;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * Collects the dumps of an application's ranks in the driver: a folder for each stage attempt and
 * occasion, with a report that is written and logged {@link #SETTLE} after the first dump.
 *
 * <p>The size is bounded twice: of each dump when it is unpacked, and of all dumps that wait to be
 * written. Thread-safe; one thread writes.
 */
final class DumpCollection implements AutoCloseable {

  /** The time after the first dump of an occasion by which the others have most likely arrived. */
  private static final Duration SETTLE = Duration.ofSeconds(2);

  /**
   * The bytes that may wait to be written: they bound the driver's heap however many ranks dump at
   * once.
   */
  static final long MOST_WAITING_BYTES = 64 << 20;

  private static final String REPORT = "report.txt";
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /** How many bytes of dumps an application's driver writes at the most. */
  static final long MOST_BYTES = 256 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(DumpCollection.class);

  private final Supplier<String> application;
  private final String configuredFolder;
  private final long maxBytes;
  private final ScheduledThreadPoolExecutor writer;
  private final Map<Path, Integer> arrived = new LinkedHashMap<>();
  private final Map<Path, String> findings = new HashMap<>();
  private final List<Path> unreported = new ArrayList<>();
  private final AtomicLong waiting = new AtomicLong();
  private Path root;
  private long written;
  private boolean full;

  /**
   * Creates the collection.
   *
   * @param application returns the application's id, which is not known yet while plugins start
   * @param maxBytes how many bytes of dumps are written at the most
   */
  DumpCollection(Supplier<String> application, Configuration configuration, long maxBytes) {
    this.application = application;
    this.configuredFolder = configuration.get(CollectivesConfiguration.FLIGHT_RECORDER_FOLDER);
    this.maxBytes = maxBytes;
    this.writer = DriverThreads.scheduler("collectives-dumps");
  }

  /** Receives a rank's dump, and writes it in the background. */
  void receive(StageAttempt stage, String occasion, byte[] packed) {
    if (waiting.addAndGet(packed.length) > MOST_WAITING_BYTES) {
      waiting.addAndGet(-packed.length);
      LOG.warn(
          "A dump of {} is dropped: {} bytes of dumps wait to be written already",
          stage,
          MOST_WAITING_BYTES);
      return;
    }
    try {
      writer.execute(
          () -> {
            try {
              write(stage, occasion, packed);
            } finally {
              waiting.addAndGet(-packed.length);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("A dump of {} came after the end of the application", stage);
    }
  }

  private void write(StageAttempt stage, String occasion, byte[] packed) {
    try {
      FlightDump dump = PackedDump.unpack(packed);
      if (written >= maxBytes) {
        if (!full) {
          LOG.warn(
              "Dumps of flight recorders take {} bytes in {}: further ones are not written",
              written,
              root);
        }
        full = true;
        return;
      }
      DumpFolder folder = folder(stage, occasion);
      written += folder.write(dump);
      arrived(folder);
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("A dump of a flight recorder of {} cannot be kept: {}", stage, e.toString());
    }
  }

  private void arrived(DumpFolder folder) {
    boolean first = !unreported.contains(folder.path());
    synchronized (arrived) {
      if (first) {
        // What was found before is of another failure of the stage.
        findings.remove(folder.path());
      }
      arrived.merge(folder.path(), 1, Integer::sum);
      arrived.notifyAll();
    }
    if (first) {
      unreported.add(folder.path());
      try {
        writer.schedule(() -> report(folder.path()), SETTLE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("The application ends: what is not reported yet is reported by close");
      }
    }
  }

  /**
   * Returns what ranks of a stage dumped when their groups failed. What dumps tell is known some
   * seconds after the first has arrived.
   */
  FailureDump ofFailure(StageAttempt stage) {
    synchronized (arrived) {
      return arrived.keySet().stream()
          .filter(path -> path.endsWith(Path.of(stage.toString().replace(' ', '-'), "failure")))
          .findFirst()
          .map(path -> new FailureDump(path.toString(), Optional.ofNullable(findings.get(path))))
          .orElse(FailureDump.NONE);
    }
  }

  private void report(Path path) {
    if (!unreported.remove(path)) {
      return;
    }
    try {
      DumpFolder folder = new DumpFolder(path);
      List<FlightDump> dumps = folder.read();
      folder.align(dumps);
      found(path, String.join("\n", TraceAnalysis.of(dumps)));
      String report = FlightTrace.report(dumps);
      folder.write(REPORT, report.getBytes(UTF_8));
      LOG.warn("Flight recorders were dumped to {}:\n{}", path, report);
    } catch (IOException | IllegalArgumentException e) {
      found(path, "");
      LOG.warn("The dumps of flight recorders in {} cannot be read: {}", path, e.toString());
    }
  }

  private void found(Path path, String finding) {
    synchronized (arrived) {
      findings.put(path, finding);
    }
  }

  /** Returns the folder of an occasion. The first dump creates a folder for all. */
  private synchronized DumpFolder folder(StageAttempt stage, String occasion) throws IOException {
    if (root == null) {
      // Only the user that runs the driver may read a temporary folder.
      root =
          configuredFolder.isEmpty()
              ? Files.createTempDirectory("spark-collectives-dumps-")
              : Files.createDirectories(Path.of(configuredFolder));
    }
    return DumpFolder.of(root, application.get() + "/" + stage, occasion);
  }

  /**
   * Waits until {@code count} ranks have dumped, for {@code nanos} at the most.
   *
   * @return the folder of the dumps, even if there are fewer
   */
  Path await(StageAttempt stage, String occasion, int count, long nanos)
      throws InterruptedException {
    Path path;
    try {
      path = folder(stage, occasion).path();
    } catch (IOException e) {
      throw new UncheckedIOException("There is no folder for dumps of flight recorders", e);
    }
    long end = System.nanoTime() + nanos;
    synchronized (arrived) {
      long left = end - System.nanoTime();
      while (arrived.getOrDefault(path, 0) < count && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(arrived, left);
        left = end - System.nanoTime();
      }
    }
    return path;
  }

  /**
   * Writes the dumps that have arrived, and analyses them. Waits for that, for a second at most.
   */
  void reportAll() {
    try {
      writer.submit(() -> List.copyOf(unreported).forEach(this::report)).get(1, TimeUnit.SECONDS);
    } catch (RejectedExecutionException | ExecutionException | TimeoutException e) {
      LOG.debug("Dumps of flight recorders are not all analysed: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Writes the dumps that have arrived, and the reports that are due. Takes ten seconds at the
   * most.
   */
  @Override
  public void close() {
    try {
      writer.execute(() -> List.copyOf(unreported).forEach(this::report));
    } catch (RejectedExecutionException e) {
      return;
    }
    writer.shutdown();
    try {
      if (!writer.awaitTermination(CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        LOG.warn("Dumps of flight recorders are not all written after {}", CLOSE_TIMEOUT);
        writer.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
