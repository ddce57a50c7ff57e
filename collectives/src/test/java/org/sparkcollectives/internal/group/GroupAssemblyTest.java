package org.sparkcollectives.internal.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.FaultyStore;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/**
 * Tests that a group that cannot be assembled on a rank leaves nothing of that rank: no thread, no
 * watch and no key in the store, and no group that its host takes for an open one. Each use that
 * the assembly makes of its host, its settings and its store throws once.
 */
@ExtendWith(LeakCheck.class)
class GroupAssemblyTest {

  private static final int SIZE = 2;
  private static final int FAULTY = 1;

  /** A part of the key that a group watches last. */
  private static final String LAST_WATCH = "/progress/question/";

  /** An assembly asks for more than so many things. */
  private static final int FEWEST_STEPS = 10;

  /** The host, the settings and the store of an assembly on one rank. */
  private static final class Surroundings {

    private int faultAt;
    private final Set<String> joined = new HashSet<>();
    private final List<CompletableFuture<?>> watches = new ArrayList<>();
    private final RankContext host = HostedRank.inNode(FAULTY);
    private final Function<String, Throwable> faults;
    private Throwable fault;
    private boolean armed;
    private boolean watchesAreMade;
    private int steps;

    Surroundings(boolean error) {
      this.faults = error ? LinkageError::new : IllegalStateException::new;
    }

    /** Goes on to the next step; returns false if the assembly had no more. */
    boolean next() {
      boolean struck = fault != null;
      faultAt++;
      steps = 0;
      watches.clear();
      watchesAreMade = false;
      fault = null;
      return struck;
    }

    /** Throws if this is the step; what takes the steps back again finds all in order. */
    private void step(String name) {
      if (armed && isAssembling() && steps++ == faultAt) {
        fault = faults.apply("step " + faultAt + ": " + name);
        throwUnchecked(fault);
      }
    }

    private static void throwUnchecked(Throwable thrown) {
      if (thrown instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) thrown;
    }

    private static boolean isAssembling() {
      return StackWalker.getInstance()
          .walk(
              frames ->
                  frames.anyMatch(
                      each -> each.getClassName().equals(GroupAssembly.class.getName())));
    }

    RankContext context() {
      Configuration settings =
          Configuration.of(
              key -> {
                step(key);
                return key.equals("spark.port.maxRetries") ? "17" : null;
              });
      return (RankContext)
          Proxy.newProxyInstance(
              RankContext.class.getClassLoader(),
              new Class<?>[] {RankContext.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("configuration")) {
                  return settings;
                }
                if (method.getName().equals("left")) {
                  joined.remove(arguments[0]);
                } else if (!method.getName().equals("isKilled")) {
                  step(method.getName());
                }
                if (method.getName().equals("joined")) {
                  joined.add((String) arguments[0]);
                }
                try {
                  return method.invoke(host, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }

    WatchableStore store(WatchableStore store) {
      return FaultyStore.over(
          watched(store), (method, argument) -> step(method + " " + argument), FaultyStore.NONE);
    }

    /** Returns a view that notes the watches of an assembly. */
    private WatchableStore watched(WatchableStore store) {
      return (WatchableStore)
          Proxy.newProxyInstance(
              WatchableStore.class.getClassLoader(),
              new Class<?>[] {WatchableStore.class},
              (proxy, method, arguments) -> {
                Object result;
                try {
                  result = method.invoke(store, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
                if (method.getName().equals("watch") && armed) {
                  watches.add((CompletableFuture<?>) result);
                  watchesAreMade |= String.valueOf(arguments[0]).contains(LAST_WATCH);
                }
                return method.getName().equals("withTimeout")
                    ? watched((WatchableStore) result)
                    : result;
              });
    }

    /** Checks what the call has thrown, and that nothing remembers the group. */
    void assertNothingIsLeft(Throwable thrown, Set<String> stillJoined) {
      assertThat(thrown).as("thrown at step %s", faultAt).isSameAs(fault);
      assertThat(thrown.getSuppressed()).as("thrown after %s", fault.getMessage()).isEmpty();
      assertThat(joined).as("joined after %s", fault.getMessage()).isEqualTo(stillJoined);
      // The lease ends those of a monitor that is made in part, in the library's own stores only.
      if (watchesAreMade) {
        assertThat(watches).as("watches after %s", fault.getMessage()).allMatch(Future::isDone);
      }
    }
  }

  private interface Call<T> {
    T call() throws Exception;
  }

  /** Returns the group that a call makes with faults while it does, or what it throws. */
  private static Object make(Surroundings surroundings, Call<ProcessGroup> call) {
    ProcessGroup[] made = new ProcessGroup[1];
    surroundings.armed = true;
    try {
      Throwable thrown = catchThrowable(() -> made[0] = call.call());
      return thrown == null ? made[0] : thrown;
    } finally {
      surroundings.armed = false;
    }
  }

  private static void abort(ProcessGroup group) {
    try (group) {
      group.abort(new IllegalStateException("the other rank could not make it"));
    }
  }

  @ParameterizedTest
  @CsvSource({"'heap,tcp', true", "'shm,tcp', false", "'tcp', true"})
  void aFirstGroupThatCannotBeAssembledLeavesNothing(String transports, boolean error) {
    GroupOptions options =
        GroupOptions.defaults().withName("g").withTransports(transports.split(","));
    Surroundings surroundings = new Surroundings(error);
    do {
      CountDownLatch tried = new CountDownLatch(1);
      try (HashStore store = new HashStore()) {
        RankThreads.run(
            SIZE,
            rank -> {
              if (rank != FAULTY) {
                ProcessGroup group =
                    HostedGroups.create(store, rank, SIZE, options, HostedRank.inNode(rank));
                assertThat(tried.await(60, TimeUnit.SECONDS)).isTrue();
                abort(group);
                return null;
              }
              Object made =
                  make(
                      surroundings,
                      () ->
                          HostedGroups.create(
                              surroundings.store(store),
                              rank,
                              SIZE,
                              options,
                              surroundings.context()));
              tried.countDown();
              if (made instanceof ProcessGroup group) {
                abort(group);
              } else {
                surroundings.assertNothingIsLeft((Throwable) made, Set.of());
              }
              return null;
            });
        assertThat(store.listKeys()).as("keys after %s", surroundings.fault).isEmpty();
      }
    } while (surroundings.next());
    assertThat(surroundings.faultAt).isGreaterThan(FEWEST_STEPS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aGroupOfAGroupThatCannotBeAssembledLeavesNothingAndTheFirstOneGoesOn(boolean error) {
    Surroundings surroundings = new Surroundings(error);
    boolean[] isOver = {false};
    CyclicBarrier together = new CyclicBarrier(SIZE);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          SIZE,
          rank -> {
            boolean faulty = rank == FAULTY;
            try (ProcessGroup world =
                HostedGroups.create(
                    faulty ? surroundings.store(store) : store,
                    rank,
                    SIZE,
                    GroupOptions.defaults().withName("world"),
                    faulty ? surroundings.context() : HostedRank.inNode(rank))) {
              while (!isOver[0]) {
                Object made =
                    faulty ? make(surroundings, () -> world.newGroup(0, 1)) : world.newGroup(0, 1);
                together.await(60, TimeUnit.SECONDS);
                if (made instanceof ProcessGroup group) {
                  abort(group);
                } else {
                  surroundings.assertNothingIsLeft((Throwable) made, Set.of("world"));
                }
                int[] sum = {1};
                world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
                assertThat(sum).containsExactly(SIZE);
                together.await(60, TimeUnit.SECONDS);
                assertThat(store.listKeys())
                    .as("keys after %s", surroundings.fault)
                    .noneMatch(key -> key.startsWith("world/group-"));
                together.await(60, TimeUnit.SECONDS);
                if (faulty) {
                  isOver[0] = !surroundings.next();
                }
                together.await(60, TimeUnit.SECONDS);
              }
            }
            return null;
          });
      assertThat(store.listKeys()).isEmpty();
    }
    assertThat(surroundings.faultAt).isGreaterThan(FEWEST_STEPS);
  }
}
