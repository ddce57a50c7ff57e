package org.sparkcollectives.spi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.object.KryoObjectCodec;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.recorder.DumpFolder;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * The environment that hosts a rank: a Spark task or a plain process. The watchdog asks it, a
 * hundred times a second, whether the rank must stop.
 */
public interface RankContext {

  /** Returns the Spark executor's id, or a name for the process; shown in errors. */
  String executorId();

  /** Returns the Spark task attempt's id, or -1. */
  long taskAttemptId();

  /** Returns whether the rank was told to stop. Must not block. */
  boolean isKilled();

  /** Returns why the rank was told to stop, once {@link #isKilled()}. */
  String killReason();

  /**
   * Returns whether the rank was told to stop only because another rank had failed before: then
   * that rank's failure is worth waiting for. Must not block.
   */
  default boolean isStoppedWithOthers() {
    return false;
  }

  /**
   * Notes that the rank has joined a group. If the rank's process is lost, whoever notices may then
   * publish {@code ifLost} for it, see {@link org.sparkcollectives.spi.failure.PublishedFailure}.
   * Must not block.
   */
  default void joined(String group, Failure ifLost) {}

  /**
   * Receives a group that the rank has joined, to watch it: its {@link ProcessGroup#statistics} and
   * {@link ProcessGroup#failure} may be read by any thread, also after {@link #left}. Must not
   * block, and must begin no operation.
   */
  default void opened(ProcessGroup group) {}

  /** Notes that the rank has left a group. Must not block. */
  default void left(String group) {}

  /**
   * Fails what hosts the rank, because a group of it has failed whose {@link ErrorHandling} asks
   * for that. Called once for each such group, by whichever thread notices; must not block, and
   * must not throw.
   *
   * <p>A plain process has no task that could be failed alone, so by default nothing happens:
   * operations throw as with {@link ErrorHandling#CLEAN_UP_ONLY}. Threads are not interrupted:
   * those in the group's operations wake anyway, and the others are not the library's. A host that
   * can end its ranks overrides this.
   *
   * @param cause the first cause, as far as this rank knows it
   * @param patience how long the rank may take to end by itself
   */
  default void tearDown(CollectiveException cause, Duration patience) {}

  /**
   * Receives a dump of the rank's flight recorder. Called on a thread of the library; may block for
   * as long as it takes to write a file or to call the driver. By default the dump is written to
   * {@code spark.collectives.flightRecorder.folder}, if that is set.
   *
   * @param world the name of the rank's first group
   * @param occasion what dumps that were made together have in common, such as {@code failure} or
   *     {@code request-2}
   */
  default void dumped(String world, String occasion, FlightDump dump) {
    String folder = configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_FOLDER);
    if (!folder.isEmpty()) {
      try {
        DumpFolder.of(Path.of(folder), world, occasion).write(dump);
      } catch (IOException e) {
        throw new UncheckedIOException("The dump of " + dump.where() + " cannot be written", e);
      }
    }
  }

  /**
   * Returns where the checkpoints of the rank's groups are kept, the same for all ranks of its
   * first group. May block for a call or two.
   *
   * @param store the one that the rank's first group was made over
   * @param deadline by which the call returns or throws
   * @throws IllegalStateException if they cannot be kept for longer than the group lives
   */
  default Store checkpoints(Store store, Deadline deadline) {
    return store.withPrefix("collectives-checkpoints");
  }

  /**
   * Returns the GPUs that were assigned to the rank, as Spark addresses them: ordinals on the host,
   * or UUIDs. Empty where none are assigned.
   */
  default List<String> gpuAddresses() {
    return List.of();
  }

  /** Returns where this rank's settings are looked up. */
  default Configuration configuration() {
    return Configuration.ofSystemProperties();
  }

  /** Returns the choices that no setting offers. */
  default RankTuning tuning() {
    return RankTuning.DEFAULT;
  }

  /** Returns the address to listen on where the configuration names none. */
  default String bindHost() {
    return "127.0.0.1";
  }

  /**
   * Returns the name of the rack of this rank's host, which is the same for all hosts of a rack;
   * empty if it is unknown. Called before the rank joins its first group; may block for a call to
   * the driver.
   *
   * @param deadline by which the rank must have joined its group; the call returns well before it
   */
  default String rack(Deadline deadline) {
    return "";
  }

  /** Returns how connections between ranks are protected on the wire; alike for all ranks. */
  default TransportSecurity security() {
    return configuration().get(CollectivesConfiguration.ENCRYPTION).security();
  }

  /**
   * Returns how the rank's objects become bytes; called when a group is made, by the thread that
   * makes it. By default Kryo, with that thread's context class loader.
   */
  default ObjectCodec objectCodec() {
    return KryoObjectCodec.of(Thread.currentThread().getContextClassLoader());
  }

  /**
   * Returns the context of a rank in a plain process, which only the operating system kills, among
   * ranks of the same host.
   */
  static RankContext process() {
    return process("127.0.0.1");
  }

  /**
   * Returns the context of a rank in a plain process, which only the operating system kills.
   *
   * @param bindHost the address at which ranks of other processes reach this one
   */
  static RankContext process(String bindHost) {
    Objects.requireNonNull(bindHost, "bindHost");
    String name = "process " + ProcessHandle.current().pid();
    return new RankContext() {
      @Override
      public String executorId() {
        return name;
      }

      @Override
      public String bindHost() {
        return bindHost;
      }

      @Override
      public long taskAttemptId() {
        return -1;
      }

      @Override
      public boolean isKilled() {
        return false;
      }

      @Override
      public String killReason() {
        return "";
      }
    };
  }
}
