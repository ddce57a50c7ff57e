package org.sparkcollectives.spark.internal.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.elastic.ReplicaVote;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;

/** A run whose replicas are threads, over the driver's store without Spark. */
final class ReplicaThreads implements AutoCloseable {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private final TestDriver driver = new TestDriver("1g");
  private final int replicas;
  private final String run;
  private final AtomicLong incarnations = new AtomicLong();
  private final Set<ReconfigurableGroup> groups = ConcurrentHashMap.newKeySet();

  private final GroupOptions options;

  /** Begins a run of so many replicas, of which a step needs {@code minReplicas}. */
  ReplicaThreads(int replicas, int minReplicas) {
    this(replicas, minReplicas, GroupOptions.defaults());
  }

  /** Begins a run whose replicas form groups with these options. */
  ReplicaThreads(int replicas, int minReplicas, GroupOptions options) {
    this.replicas = replicas;
    this.options = options;
    this.run = driver.store().runs().begin(minReplicas);
  }

  /** The task of a replica; its store's client closes with its group. */
  final class Task {

    private final RunRequest self;
    private final DriverStoreClient store;
    private final ReconfigurableGroup group;
    private final QuorumReplica replica;

    private Task(int number, int checkpointInterval) {
      self = new RunRequest(run, number, STAGE, incarnations.incrementAndGet(), "host", "1");
      store = driver.connect(self);
      group =
          HostedGroups.reconfigurable(
              store,
              number,
              replicas,
              options.withName(RunKeys.replicas("app", run)),
              new TestHost(store, self.incarnation()),
              store::close);
      groups.add(group);
      replica =
          new QuorumReplica(
              self,
              group,
              store,
              ReplicaVote.alone(ReplicaThreads::alone),
              LostRows.TAKE_OVER,
              replicas,
              checkpointInterval,
              () -> false);
    }

    QuorumReplica replica() {
      return replica;
    }

    DriverStoreClient store() {
      return store;
    }

    ReconfigurableGroup group() {
      return group;
    }

    long incarnation() {
      return self.incarnation();
    }

    /** Ends as a process does that is killed: whoever waits for it hears it from the driver. */
    void dies() {
      driver.lose(self);
      group.abort(new IllegalStateException("dead"));
    }
  }

  private static ProcessGroup alone() {
    return ProcessGroups.create(new HashStore(), 0, 1, GroupOptions.defaults());
  }

  /** Begins a replica without checkpoints, in place of the one of this number before it. */
  Task begin(int number) {
    return begin(number, 0);
  }

  /** Begins a replica that keeps a checkpoint after so many steps. */
  Task begin(int number, int checkpointInterval) {
    return new Task(number, checkpointInterval);
  }

  /** Returns the calls of elastic stages, of which this run is one. */
  Runs runs() {
    return driver.store().runs();
  }

  String run() {
    return run;
  }

  @Override
  public void close() {
    driver.store().runs().close(run, "");
    groups.forEach(ReconfigurableGroup::close);
    driver.close();
  }
}
