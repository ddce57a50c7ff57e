package org.sparkcollectives.averaging;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;

/**
 * Averages over small groups often and over large ones seldom: c10d's {@code
 * HierarchicalModelAverager}. The groups of a size are blocks of neighbouring ranks.
 *
 * <p>After the warm-up a step averages over the group with the largest period that divides the
 * step's number, counted from 0 with the warm-up's steps. So at step 0 the whole group averages.
 */
public final class HierarchicalModelAverager implements ModelAverager, AutoCloseable {

  private final ProcessGroup whole;
  private final NavigableMap<Long, ProcessGroup> groups;
  private final StepCounter counter;

  private HierarchicalModelAverager(
      ProcessGroup whole, NavigableMap<Long, ProcessGroup> groups, long warmupSteps) {
    this.whole = whole;
    this.groups = groups;
    this.counter = new StepCounter(warmupSteps);
  }

  /**
   * Creates an averager, and the groups that it needs. A collective: called by all ranks of {@code
   * group}, with the same arguments, and blocks until all have come, for the group's timeout at the
   * most.
   *
   * @param group of all ranks; not closed by the averager
   * @param groupSizes for each period, of 1 or more steps, how many neighbouring ranks average.
   *     Each number divides the size of {@code group}, and that of the longest period is this size
   * @param warmupSteps how many steps there are before the first that averages; 0 or more
   * @throws IllegalArgumentException on all ranks, if the arguments are wrong on one, or differ
   */
  public static HierarchicalModelAverager create(
      ProcessGroup group, SortedMap<Long, Integer> groupSizes, long warmupSteps) {
    NavigableMap<Long, Integer> sizes = new TreeMap<>();
    new CallCheck(group, "making of a hierarchical averager")
        .compare(
            () -> {
              sizes.putAll(groupSizes);
              requireValid(sizes, group.size());
              StepCounter.requireWarmup(warmupSteps);
              return List.of("the group sizes " + sizes, "a warm-up of " + warmupSteps + " steps");
            });
    NavigableMap<Long, ProcessGroup> groups = new TreeMap<>();
    HierarchicalModelAverager averager = new HierarchicalModelAverager(group, groups, warmupSteps);
    try {
      sizes.forEach((period, size) -> groups.put(period, blocks(group, size, period)));
    } catch (RuntimeException | Error e) {
      averager.close();
      throw e;
    }
    return averager;
  }

  private static ProcessGroup blocks(ProcessGroup group, int size, long period) {
    return size == group.size()
        ? group
        : group.newSubgroups(
            size, GroupOptions.defaults().withDescription("averages every " + period + " steps"));
  }

  private static void requireValid(NavigableMap<Long, Integer> sizes, int whole) {
    if (sizes.isEmpty()) {
      throw new IllegalArgumentException(
          "there is no period; give at least one, with its group size");
    }
    for (Map.Entry<Long, Integer> each : sizes.entrySet()) {
      StepCounter.requirePeriod(each.getKey());
      int size = each.getValue();
      if (size < 1 || whole % size != 0) {
        throw new IllegalArgumentException(
            "the "
                + whole
                + " ranks cannot be divided into groups of "
                + size
                + ", those of the period "
                + each.getKey());
      }
    }
    if (sizes.lastEntry().getValue() != whole) {
      throw new IllegalArgumentException(
          "the groups of the longest period, "
              + sizes.lastKey()
              + ", have "
              + sizes.lastEntry().getValue()
              + " ranks, and must have all "
              + whole);
    }
  }

  @Override
  public boolean average(List<Tensor> parameters, BitSet selected) {
    Optional<ProcessGroup> group = groupOfStep();
    group.ifPresent(each -> ParameterAveraging.average(each, parameters, selected));
    counter.advance();
    return group.isPresent();
  }

  /**
   * Returns the group over which the next call of {@link #average(List)} averages; empty if it does
   * not. It belongs to the averager.
   */
  public Optional<ProcessGroup> groupOfStep() {
    return counter.afterWarmup() < 0
        ? Optional.empty()
        : groups.descendingMap().entrySet().stream()
            .filter(each -> counter.step() % each.getKey() == 0)
            .map(Map.Entry::getValue)
            .findFirst();
  }

  @Override
  public void abort(Throwable cause) {
    groups.values().forEach(each -> each.abort(cause));
  }

  @Override
  public long step() {
    return counter.step();
  }

  @Override
  public void setStep(long step) {
    counter.set(step);
  }

  /** Closes the groups that {@link #create} has made; the group of all ranks stays open. */
  @Override
  public void close() {
    groups.values().stream().filter(each -> each != whole).forEach(ProcessGroup::close);
  }
}
