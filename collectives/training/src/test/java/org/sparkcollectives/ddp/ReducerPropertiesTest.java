package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/** Tests random scripts of steps against a model, and random interleavings of marks. */
class ReducerPropertiesTest {

  private static final int PARAMETERS = 5;

  /** One step of all ranks: whether it is paused, who uses what, and whether zeros come first. */
  private record Script(boolean paused, boolean zeroed, BitSet[] used) {

    static List<Script> random(Random random, int ranks, int length, boolean unused) {
      List<Script> steps = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        BitSet[] used = new BitSet[ranks];
        for (int rank = 0; rank < ranks; rank++) {
          used[rank] = new BitSet();
          for (int p = 0; p < PARAMETERS; p++) {
            used[rank].set(p, !unused || random.nextInt(3) > 0);
          }
        }
        steps.add(
            new Script(i < length - 1 && random.nextInt(3) == 0, random.nextInt(3) > 0, used));
      }
      return steps;
    }
  }

  private static float value(int rank, int step, int parameter) {
    return 4 * (rank + 1) * ((step * 7 + parameter * 3) % 11 - 5);
  }

  /** Returns what each rank's gradients are in the end, computed by one thread. */
  private static float[][] model(List<Script> steps, int ranks) {
    float[][] gradients = new float[ranks][PARAMETERS];
    BitSet used = new BitSet();
    for (int s = 0; s < steps.size(); s++) {
      Script step = steps.get(s);
      for (int rank = 0; rank < ranks; rank++) {
        for (int p = 0; p < PARAMETERS; p++) {
          gradients[rank][p] =
              (step.zeroed() ? 0 : gradients[rank][p])
                  + (step.used()[rank].get(p) ? value(rank, s, p) : 0);
        }
        used.or(step.used()[rank]);
      }
      if (!step.paused()) {
        for (int p = used.nextSetBit(0); p >= 0; p = used.nextSetBit(p + 1)) {
          float sum = 0;
          for (int rank = 0; rank < ranks; rank++) {
            sum += gradients[rank][p];
          }
          for (int rank = 0; rank < ranks; rank++) {
            gradients[rank][p] = sum / ranks;
          }
        }
        used.clear();
      }
    }
    return gradients;
  }

  @Property(tries = 30)
  void aScriptOfStepsEqualsAModelOfOneThread(
      @ForAll long seed,
      @ForAll boolean unused,
      @ForAll boolean views,
      @ForAll boolean said,
      @ForAll @IntRange(min = 0, max = 2) int path) {
    int ranks = seed % 2 == 0 ? 2 : 4;
    Paths paths = List.of(Paths.HEAP, Paths.MIXED, Paths.DETAIL).get(path);
    List<Script> steps = Script.random(new Random(seed), ranks, 8, unused);
    float[][] expected = model(steps, ranks);
    ReducerOptions options =
        ReducerOptions.defaults()
            .withBucketBytes(20)
            .withFindUnused(unused)
            .withGradientAsBucketView(views);
    GroupRuns.run(
        ranks,
        paths,
        group -> {
          TestModel model = TestModel.of(1, 2, 3, 4, 5);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), options)) {
            Random order = new Random(seed + group.rank());
            for (int s = 0; s < steps.size(); s++) {
              run(steps.get(s), s, reducer, new Play(group, order, said && unused));
            }
            for (int p = 0; p < PARAMETERS; p++) {
              TestModel.assertGradient(reducer, p, expected[group.rank()][p]);
            }
          }
          return null;
        });
  }

  /** How a rank plays a script. */
  private record Play(ProcessGroup group, Random order, boolean saysUnused) {}

  private static void run(Script step, int number, GradientReducer reducer, Play play) {
    int rank = play.group().rank();
    BitSet used = step.used()[rank];
    NoSync pause = step.paused() ? reducer.noSync() : null;
    if (step.zeroed()) {
      IntStream.range(0, PARAMETERS).forEach(p -> TestModel.fill(reducer, p, 0));
    }
    reducer.beginForward();
    BitSet unused = new BitSet();
    if (play.saysUnused()) {
      unused.set(0, PARAMETERS);
      unused.andNot(used);
    }
    reducer.beginBackward(unused);
    for (int p : shuffled(play.order())) {
      if (used.get(p)) {
        TestModel.add(reducer, p, value(rank, number, p));
        reducer.markReady(p);
      }
    }
    reducer.finish();
    if (pause != null) {
      pause.close();
    }
  }

  private static int[] shuffled(Random random) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, PARAMETERS).boxed().toList());
    Collections.shuffle(order, random);
    return order.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns the bits of all gradients after some steps, with marks by several threads. */
  private static List<float[]> bits(ProcessGroup group, Random random, int threads)
      throws InterruptedException {
    TestModel model = TestModel.of(1, 20, 30, 4, 50);
    List<float[]> bits = new ArrayList<>();
    try (GradientReducer reducer =
        GradientReducer.create(
            group,
            model.parameters(),
            ReducerOptions.defaults().withBucketBytes(90).withReadyOrder(4, 3, 2, 1, 0))) {
      for (int step = 0; step < 10; step++) {
        for (int p = 0; p < PARAMETERS; p++) {
          TestModel.fill(reducer, p, (float) Math.sin(group.rank() + 10 * p + 100 * step));
        }
        reducer.beginForward();
        reducer.beginBackward();
        markByThreads(reducer, shuffled(random), threads);
        reducer.finish();
        for (int p = 0; p < PARAMETERS; p++) {
          bits.add(TestModel.values(reducer, p));
        }
      }
    }
    return bits;
  }

  private static void markByThreads(GradientReducer reducer, int[] order, int threads)
      throws InterruptedException {
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int first = t;
      Thread thread =
          new Thread(
              () -> {
                for (int i = first; i < order.length; i += threads) {
                  reducer.markReady(order[i]);
                }
              },
              "marks-" + t);
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join();
    }
  }

  @Property(tries = 6)
  void anyOrderOfMarksByAnyThreadsGivesTheSameBitsWithAKnownOrder(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int threads) {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          List<float[]> one = bits(group, new Random(1), 1);
          List<float[]> other = bits(group, new Random(seed + group.rank()), threads);
          for (int i = 0; i < one.size(); i++) {
            assertThat(other.get(i)).isEqualTo(one.get(i));
          }
          return null;
        });
  }
}
