package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;

/**
 * The growth table at each rank: measures each operation in groups of more and more ranks of one
 * world. Each operation has a new group, so that its connections and memory are its own. Ranks that
 * are not in the group wait.
 */
final class GrowthRank {

  /** Tells this JVM from others, on whatever host. */
  private static final String PROCESS = UUID.randomUUID().toString();

  private final ProcessGroup world;
  private final GrowthPlan plan;
  private final RankSpread spread;

  GrowthRank(ProcessGroup world, GrowthPlan plan) {
    plan.check(world.size());
    this.world = world;
    this.plan = plan;
    this.spread = new RankSpread(world.hosts(), world.objects().allGather(PROCESS));
  }

  /** Runs the measurement. All ranks call this. Rank 0 passes the points on. */
  void run(Consumer<GrowthPoint> results) {
    // Now the world's own connections are there, and count for no group.
    GrowthSample.NONE.combine(world);
    for (int count : plan.countsOf(world.size())) {
      int[] ranks = spread.choose(count);
      List<GrowthSample> samples = new ArrayList<>();
      for (GrowthCase each : GrowthCase.ALL) {
        GrowthSample sample = measure(each, ranks);
        samples.add(sample);
        if (world.rank() == 0) {
          results.accept(
              point(
                  each.label(),
                  ranks,
                  sample.iterations(),
                  sample.medianNanos(),
                  (double) sample.run().cpuNanos() / sample.iterations(),
                  sample.run(),
                  sample.wrongElements()));
        }
      }
      if (world.rank() == 0) {
        results.accept(creation(ranks, samples));
        results.accept(close(ranks, samples));
      }
    }
  }

  private GrowthSample measure(GrowthCase each, int[] ranks) {
    boolean member = Arrays.stream(ranks).anyMatch(rank -> rank == world.rank());
    ProcessCosts before = costs(ranks);
    world.barrier().await();
    GrowthSample own = member ? measureInGroup(each, ranks, before) : GrowthSample.NONE;
    return own.combine(world);
  }

  private GrowthSample measureInGroup(GrowthCase each, int[] ranks, ProcessCosts before) {
    long begin = System.nanoTime();
    ProcessGroup group =
        world.newGroup(
            GroupOptions.defaults()
                .withDescription(each.label())
                .withRanks(ranks)
                .withLocalSynchronization(true));
    group.barrier().await();
    final long createNanos = System.nanoTime() - begin;
    final ProcessCosts made = costs(ranks);

    RankBenchmark benchmark = new RankBenchmark(group, each.plan(plan.time()));
    Workload workload = benchmark.workload(each.count(ranks.length));
    benchmark.warmUpFor(workload, plan.warmup().toNanos());
    group.barrier().await();
    long cpuBefore = costs(ranks).cpuNanos();
    long[] nanos = benchmark.times(workload);
    group.barrier().await();
    ProcessCosts run = costs(ranks);
    Long wrong = benchmark.wrongElements(workload);
    Arrays.sort(nanos);

    group.barrier().await();
    long cpuBeforeClose = costs(ranks).cpuNanos();
    long beginClose = System.nanoTime();
    group.close();
    long closeNanos = System.nanoTime() - beginClose;
    return new GrowthSample(
        createNanos,
        closeNanos,
        nanos[nanos.length / 2],
        made.since(before.cpuNanos(), before.connections()),
        run.since(cpuBefore, before.connections()),
        costs(ranks).cpuNanos() - cpuBeforeClose,
        nanos.length,
        wrong == null ? 0 : wrong);
  }

  /** Returns the costs of this process, if this rank speaks for it. */
  private ProcessCosts costs(int[] ranks) {
    return spread.isFirstOfProcess(world.rank(), ranks) ? ProcessCosts.now() : ProcessCosts.NONE;
  }

  private GrowthPoint creation(int[] ranks, List<GrowthSample> samples) {
    return point(
        GrowthCase.CREATION,
        ranks,
        samples.size(),
        median(samples, GrowthSample::createNanos),
        mean(samples, sample -> sample.create().cpuNanos()),
        samples.get(0).create(),
        0);
  }

  private GrowthPoint close(int[] ranks, List<GrowthSample> samples) {
    return point(
        GrowthCase.CLOSE,
        ranks,
        samples.size(),
        median(samples, GrowthSample::closeNanos),
        mean(samples, GrowthSample::closeCpuNanos),
        ProcessCosts.NONE,
        0);
  }

  private static long median(List<GrowthSample> samples, ToLongFunction<GrowthSample> value) {
    long[] sorted = samples.stream().mapToLong(value).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  /** Returns a mean, since a processor time has few digits. */
  private static double mean(List<GrowthSample> samples, ToLongFunction<GrowthSample> value) {
    return samples.stream().mapToLong(value).average().orElseThrow();
  }

  private GrowthPoint point(
      String label,
      int[] ranks,
      int iterations,
      long nanos,
      double cpuNanos,
      ProcessCosts held,
      long wrong) {
    double size = ranks.length;
    return new GrowthPoint(
        label,
        ranks.length,
        spread.processesOf(ranks),
        spread.hostsOf(ranks),
        iterations,
        nanos / 1e3,
        cpuNanos / 1e3 / size,
        Math.max(0, held.connections()) / size,
        held.directBytes() / size,
        wrong);
  }
}
