package org.sparkcollectives.spi;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.config.ConfigEntry;

/** The settings of process groups. */
public final class CollectivesConfiguration {

  /** See {@link ProcessGroup#timeout}. */
  public static final ConfigEntry<Duration> TIMEOUT =
      ConfigEntry.duration("spark.collectives.timeout")
          .doc("How long an operation of a group may take before it fails, and the group with it.")
          .since("0.1.0")
          .check(
              value ->
                  !value.isNegative()
                      && !value.isZero()
                      && value.compareTo(GroupOptions.LONGEST_TIMEOUT) <= 0,
              "more than zero, 10000d at the most")
          .defaultsTo(Duration.ofMinutes(30));

  /** See {@link GroupOptions#withTransports}. */
  public static final ConfigEntry<List<String>> TRANSPORTS =
      ConfigEntry.list("spark.collectives.transports")
          .doc(
              "The paths that may be used: `heap` between ranks of one JVM, `shm` (shared memory)"
                  + " between JVMs of one host if it has at most 64 ranks of the group, `tcp`"
                  + " between all. `tcp` cannot be left out if ranks are in several JVMs.")
          .since("0.1.0")
          .check(
              value -> !value.isEmpty() && List.of("heap", "shm", "tcp").containsAll(value),
              "one or more of heap, shm and tcp")
          .defaultsTo(List.of("heap", "shm", "tcp"));

  /** The port that a JVM's ranks listen on. */
  public static final ConfigEntry<Integer> PORT =
      ConfigEntry.integer("spark.collectives.port")
          .doc(
              "The port on which a JVM accepts connections for all its ranks; 0 for any. If it is"
                  + " in use, those above it are tried, as many as Spark's own"
                  + " `spark.port.maxRetries` says: each executor of a host takes one, and a"
                  + " firewall must let the range through.")
          .since("0.1.0")
          .check(value -> value == 0 || (value >= 1024 && value <= 65535), "0 or 1024 to 65535")
          .defaultsTo(0);

  /** The number of further ports that are tried: a setting of Spark's own. */
  public static final ConfigEntry<Integer> PORT_MAX_RETRIES =
      ConfigEntry.integer("spark.port.maxRetries")
          .doc("How many ports above the configured one are tried.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(16);

  /** The address to listen on. */
  public static final ConfigEntry<String> BIND_HOST =
      ConfigEntry.string("spark.collectives.bindHost")
          .doc(
              "The address that a JVM listens on. Empty: the one that Spark itself uses; outside"
                  + " Spark the one that reaches the address of a rendezvous URL, else the"
                  + " loopback address.")
          .since("0.1.0")
          .defaultsTo("");

  /** The address that is announced to peers. */
  public static final ConfigEntry<String> HOST =
      ConfigEntry.string("spark.collectives.host")
          .doc(
              "The address that peers connect to, where it differs from the one listened on, as"
                  + " in containers. Empty: the address listened on.")
          .since("0.1.0")
          .defaultsTo("");

  /** The secret that proves that a process may join. */
  public static final ConfigEntry<String> RENDEZVOUS_SECRET =
      ConfigEntry.string("spark.collectives.rendezvous.secret")
          .doc(
              "The secret by which the processes of a `tcp://` or `env://` rendezvous authenticate"
                  + " each other, such as the output of `openssl rand -hex 32`. Empty: none, which"
                  + " is refused at an address that other hosts reach. Not used by Spark tasks,"
                  + " whose store is guarded by Spark or by a secret of its own.")
          .since("0.1.0")
          .defaultsTo("");

  /** See {@link Encryption}. */
  public static final ConfigEntry<Encryption> ENCRYPTION =
      ConfigEntry.choice("spark.collectives.encryption", Encryption.class)
          .doc(
              "`TLS`: what ranks send each other, or to a store, over TCP is encrypted with TLS"
                  + " 1.3. The processes authenticate each other by a secret and need no"
                  + " certificates. A `tcp://` or `env://` rendezvous then needs"
                  + " `spark.collectives.rendezvous.secret`. `NONE`: not encrypted; in Spark,"
                  + " encrypted if Spark's own settings ask for it, see"
                  + " [security](../operate/security.md). The same for all ranks.")
          .since("0.1.0")
          .defaultsTo(Encryption.NONE);

  /** The value of {@link #CONNECTIONS} and {@link #COST} that leaves the choice to the ranks. */
  public static final String AUTO = "auto";

  /** The number of connections to each peer over which a large operation goes. */
  public static final ConfigEntry<String> CONNECTIONS =
      ConfigEntry.string("spark.collectives.tcp.connections")
          .doc(
              "Over how many connections a rank sends a large collective to each peer that it"
                  + " reaches over TCP, each with a thread of its own: 1 to 16. `auto`: two if"
                  + " every rank can have two processors of its host, else one. The same for all"
                  + " ranks.")
          .since("0.1.0")
          .check(value -> value.equals(AUTO) || value.matches("[1-9]|1[0-6]"), "auto, or 1 to 16")
          .defaultsTo(AUTO);

  /** The folder for shared memory. */
  public static final ConfigEntry<String> SHM_FOLDER =
      ConfigEntry.string("spark.collectives.shm.folder")
          .doc(
              "A folder in a file system that lies in memory, for the transport `shm`. Each two"
                  + " ranks that exchange data take 1 MiB there, 512 KiB in each direction; if"
                  + " there is no room, TCP is used.")
          .since("0.1.0")
          .defaultsTo("/dev/shm");

  /** See {@link GroupOptions#withBackend}. */
  public static final ConfigEntry<String> BACKEND =
      ConfigEntry.string("spark.collectives.backend")
          .doc(
              "The backend that runs the operations: its name, or one for each kind of device, as"
                  + " in `cpu:netty,cuda:nccl`.")
          .since("0.1.0")
          .defaultsTo(BackendConfig.NETTY);

  /** See {@link GroupOptions#withAlgorithms}. */
  public static final ConfigEntry<List<String>> ALGORITHM =
      ConfigEntry.list("spark.collectives.algorithm")
          .doc(
              "Algorithms that carry out collectives in host memory whatever they cost, by"
                  + " [name](../internals/algorithms.md#all-algorithms): one for each operation, as"
                  + " in `RingAllReduce,BinomialBroadcast`. Where one does not fit, the call is"
                  + " refused, and the error lists those that do. `auto`: each operation runs the"
                  + " one that is predicted to be the fastest. The same for all ranks.")
          .since("0.1.0")
          .check(value -> !value.isEmpty(), "auto, or one or more names")
          .defaultsTo(List.of("auto"));

  /** See {@link GroupOptions#withDebugLevel}. */
  public static final ConfigEntry<DebugLevel> DEBUG =
      ConfigEntry.choice("spark.collectives.debug", DebugLevel.class)
          .doc(
              "`OFF`; `INFO` logs when groups are made and closed; `DETAIL` compares what the ranks"
                  + " call before each collective, which finds mismatches at once and costs time.")
          .since("0.1.0")
          .defaultsTo(DebugLevel.OFF);

  /** See {@link GroupOptions#withNanCheck}. */
  public static final ConfigEntry<Boolean> NAN_CHECK =
      ConfigEntry.bool("spark.collectives.nanCheck")
          .doc(
              "Whether an operation throws if its input has a NaN, and names the element; costs a"
                  + " pass over the input.")
          .since("0.1.0")
          .defaultsTo(false);

  /** The number of operations that a rank's flight recorder keeps. */
  public static final ConfigEntry<Integer> FLIGHT_RECORDER_SIZE =
      ConfigEntry.integer("spark.collectives.flightRecorder.size")
          .doc(
              "How many operations the flight recorder of a rank keeps, over all its groups; 0 for"
                  + " none.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(2000);

  /** Makes flight recorders keep hashes of inputs and outputs. */
  public static final ConfigEntry<Boolean> FLIGHT_RECORDER_HASHES =
      ConfigEntry.bool("spark.collectives.flightRecorder.hashes")
          .doc(
              "Whether flight records have hashes of each operation's inputs and outputs, to find"
                  + " where ranks or runs begin to differ; costs a pass over inputs and outputs in"
                  + " host memory.")
          .since("0.1.0")
          .defaultsTo(false);

  /** Makes ranks dump their flight recorders when a group fails. */
  public static final ConfigEntry<Boolean> FLIGHT_RECORDER_DUMP_ON_FAILURE =
      ConfigEntry.bool("spark.collectives.flightRecorder.dumpOnFailure")
          .doc("Whether each rank dumps its flight recorder when a group fails.")
          .since("0.1.0")
          .defaultsTo(true);

  /** The folder for dumps. */
  public static final ConfigEntry<String> FLIGHT_RECORDER_FOLDER =
      ConfigEntry.string("spark.collectives.flightRecorder.folder")
          .doc(
              "The folder for dumps of flight recorders. In Spark it is on the driver's host, where"
                  + " all ranks' dumps are collected; if empty, a new folder among the driver's"
                  + " temporary files. Outside Spark it is on each rank's host; if empty, there are"
                  + " no dumps.")
          .since("0.1.0")
          .defaultsTo("");

  /** See {@link org.sparkcollectives.internal.liveness.Heartbeat}. */
  public static final ConfigEntry<Duration> HEARTBEAT_TIMEOUT =
      ConfigEntry.duration("spark.collectives.heartbeat.timeout")
          .doc(
              "How long a JVM may send no heartbeat before the groups that have ranks in it fail,"
                  + " because it is stopped, cut off without a broken connection, or collects"
                  + " garbage for that long. 0 for no heartbeats: then only an operation's timeout"
                  + " ends the wait for a rank that hangs. Each JVM sends ten heartbeats in this"
                  + " time: two requests to the store for each world group, none for groups made"
                  + " from it. The same for all ranks.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofSeconds(10));

  /** See {@link ErrorHandling}. */
  public static final ConfigEntry<ErrorHandling> ERROR_HANDLING =
      ConfigEntry.choice("spark.collectives.errorHandling", ErrorHandling.class)
          .doc(
              "What happens when an operation fails or times out. `CLEAN_UP_ONLY`: the group fails"
                  + " on all ranks, and its operations throw. `TEAR_DOWN`: the driver then also"
                  + " fails all tasks that have not ended after a second, even if their code"
                  + " swallows the exception or is stuck. `SKIP_CLEAN_UP`: the driver fails the"
                  + " tasks at once. `NONE`: the operation throws on its own rank, and the other"
                  + " ranks are not told; see"
                  + " [failures and checkpoints]"
                  + "(../guide/failures-and-checkpoints.md#what-follows-from-a-failed-operation).")
          .since("0.1.0")
          .defaultsTo(ErrorHandling.CLEAN_UP_ONLY);

  /** The figures by which algorithms are chosen. */
  public static final ConfigEntry<String> COST =
      ConfigEntry.string("spark.collectives.cost")
          .doc(
              "The figures by which each rank predicts which algorithm is the fastest: `auto`, or"
                  + " the path of a"
                  + " [file](../internals/algorithms.md#the-figures-and-how-to-override-them) that"
                  + " every rank's host has. The same for all ranks.")
          .since("0.1.0")
          .check(value -> !value.isBlank(), "auto, or a path")
          .defaultsTo(AUTO);

  private CollectivesConfiguration() {}

  /** Returns these settings, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(
        TIMEOUT,
        ERROR_HANDLING,
        HEARTBEAT_TIMEOUT,
        TRANSPORTS,
        PORT,
        BIND_HOST,
        HOST,
        RENDEZVOUS_SECRET,
        ENCRYPTION,
        CONNECTIONS,
        SHM_FOLDER,
        BACKEND,
        ALGORITHM,
        DEBUG,
        NAN_CHECK,
        FLIGHT_RECORDER_SIZE,
        FLIGHT_RECORDER_HASHES,
        FLIGHT_RECORDER_DUMP_ON_FAILURE,
        FLIGHT_RECORDER_FOLDER,
        COST);
  }
}
