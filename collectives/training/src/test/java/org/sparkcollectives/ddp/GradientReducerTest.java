package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests what the reducer makes of the ranks' gradients, over several paths. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@MethodSource("org.sparkcollectives.ddp.TestModel#paths")
class GradientReducerTest {

  @org.junit.jupiter.params.Parameter private Paths paths;

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, paths, body);
  }

  @Test
  void gradientsOfEachWindowAreThoseOfTorch() {
    for (int size = 2; size <= 3; size++) {
      ranks(
          size,
          group -> {
            for (JsonNode sequence : Tables.of("gradient-sequences")) {
              if (sequence.get("worldSize").asInt() == group.size()) {
                replay(group, sequence, false);
                replay(group, sequence, true);
              }
            }
            return null;
          });
    }
  }

  private static void replay(ProcessGroup group, JsonNode sequence, boolean views) {
    long[][] shapes =
        Tables.list(sequence.get("shapes")).stream().map(Tables::longs).toArray(long[][]::new);
    ReducerOptions options = BucketPlanTest.options(sequence.get("options"));
    TestModel model = new TestModel(!views, shapes);
    float stale = 7 + group.rank();
    try (GradientReducer reducer =
        GradientReducer.create(group, model.parameters(), options.withBucketBytes(16))) {
      for (JsonNode window : sequence.get("windows")) {
        JsonNode expected = window.get("gradients");
        for (int i = 0; i < model.size(); i++) {
          TestModel.fill(reducer, i, expected.get(i).isNull() ? stale : 0);
        }
        JsonNode microSteps = window.get("microSteps");
        for (int i = 0; i < microSteps.size(); i++) {
          NoSync pause = i < microSteps.size() - 1 ? reducer.noSync() : null;
          microStep(reducer, microSteps.get(i).get(group.rank()));
          if (pause != null) {
            pause.close();
          }
        }
        for (int i = 0; i < model.size(); i++) {
          TestModel.assertGradient(
              reducer, i, expected.get(i).isNull() ? stale : (float) expected.get(i).asDouble());
        }
      }
    }
  }

  private static void microStep(GradientReducer reducer, JsonNode values) {
    reducer.beginForward();
    reducer.beginBackward();
    for (int i = values.size() - 1; i >= 0; i--) {
      if (!values.get(i).isNull()) {
        TestModel.add(reducer, i, (float) values.get(i).asDouble());
        reducer.markReady(i);
      }
    }
    reducer.finish();
  }

  @Test
  void whetherAStepIsAveragedIsDecidedWhereItsBackwardPassBegins() {
    ranks(
        2,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            NoSync forwardOnly = reducer.noSync();
            reducer.beginForward();
            forwardOnly.close();
            forwardOnly.close();
            reducer.beginBackward();
            TestModel.fill(reducer, 0, group.rank());
            reducer.markReady(0);
            reducer.finish();
            model.assertGradients(reducer, 0.5f);
            reducer.beginForward();
            NoSync backwardToo = reducer.noSync();
            reducer.beginBackward();
            backwardToo.close();
            TestModel.fill(reducer, 0, group.rank());
            reducer.markReady(0);
            reducer.finish();
            model.assertGradients(reducer, group.rank());
          }
          return null;
        });
  }

  @Test
  void plansOfTorchAreMadeWithAtMostAsManyCollectives() {
    ranks(
        2,
        group -> {
          Tables.of("bucket-plans").forEach(row -> follow(group, row));
          return null;
        });
  }

  private static void follow(ProcessGroup group, JsonNode row) {
    TestModel model = TestModel.of(Tables.longs(row.get("counts")));
    int[] unused = Tables.ints(row.get("unused"));
    int[] use = Tables.ints(row.get("orderOfUseByRank").get(group.rank()));
    int[] collectives = Tables.ints(row.get("collectivesPerIteration"));
    try (GradientReducer reducer =
        GradientReducer.create(
            group, model.parameters(), BucketPlanTest.options(row.get("options")))) {
      assertThat(bytes(reducer)).isEqualTo(Tables.longs(row.get("initialBucketBytes")));
      ProcessGroup own = reducer.buckets().get(0).group();
      for (int most : collectives) {
        long before = own.statistics().operations();
        reducer.beginForward();
        reducer.beginBackward();
        for (int i = use.length - 1; i >= 0; i--) {
          int parameter = use[i];
          if (Arrays.stream(unused).noneMatch(each -> each == parameter)) {
            reducer.markReady(parameter);
          }
        }
        reducer.finish();
        assertThat(own.statistics().operations() - before).as("%s", row).isBetween(1L, (long) most);
      }
      if (!row.get("rebuilt").isNull()) {
        assertThat(reducer.buckets().stream().map(GradientBucket::parameters))
            .containsExactlyElementsOf(Tables.intLists(row.get("rebuilt")));
        assertThat(bytes(reducer)).isEqualTo(Tables.longs(row.get("rebuiltBucketBytes")));
      }
    }
  }

  private static long[] bytes(GradientReducer reducer) {
    return reducer.buckets().stream().mapToLong(each -> each.buffer().byteSize()).toArray();
  }

  @Test
  void theMeanHasTheBitsOfAnAllReduceInEveryMode() {
    ranks(
        3,
        group -> {
          for (DType type :
              new DType[] {DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64}) {
            for (boolean views : new boolean[] {false, true}) {
              bits(group, type, views);
            }
          }
          return null;
        });
  }

  private static void bits(ProcessGroup group, DType type, boolean views) {
    int count = 301;
    Tensor gradient = Tensor.allocate(type, count);
    gradient.copyFrom(numbers(type, count, group.rank()));
    Tensor expected = Tensor.allocate(type, count);
    expected.copyFrom(gradient);
    group.allReduce(expected, ReduceOp.AVG).await();
    ReducerOptions options = ReducerOptions.defaults().withGradientAsBucketView(views);
    try (GradientReducer reducer =
        GradientReducer.create(
            group,
            List.of(new Parameter("w", Tensor.allocate(type, count), gradient, false)),
            options)) {
      reducer.reduce();
      assertThat(bits(reducer.gradient(0)))
          .as("%s, views %s", type, views)
          .isEqualTo(bits(expected));
    }
  }

  private static Object numbers(DType type, int count, int rank) {
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) Math.sin(1.7 * i + rank) * (i % 7 == 0 ? 1e-7f : 1);
    }
    if (type == DType.FLOAT32) {
      return floats;
    }
    if (type == DType.FLOAT64) {
      return IntStream.range(0, count).mapToDouble(i -> floats[i]).toArray();
    }
    short[] halves = new short[count];
    for (int i = 0; i < count; i++) {
      halves[i] =
          type == DType.FLOAT16 ? Float16.fromFloat(floats[i]) : BFloat16.fromFloat(floats[i]);
    }
    return halves;
  }

  private static Object bits(Tensor tensor) {
    int count = (int) tensor.count();
    Object array =
        switch (tensor.dtype()) {
          case FLOAT32 -> new float[count];
          case FLOAT64 -> new double[count];
          default -> new short[count];
        };
    tensor.copyTo(array);
    return array;
  }

  @Test
  void theSmallestHalvesAreNotLostByDividingThemFirst() {
    ranks(
        2,
        group -> {
          Tensor gradient = Tensor.wrap(DType.FLOAT16, new short[] {1});
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  List.of(new Parameter("w", Tensor.allocate(DType.FLOAT16, 1), gradient, false)),
                  ReducerOptions.defaults())) {
            reducer.reduce();
            assertThat((short[]) gradient.array()).containsExactly((short) 1);
          }
          return null;
        });
  }

  @Test
  void gradientsThatTheReducerAllocatesAreViewsAndMoveWithWhatTheyHold() {
    ranks(
        2,
        group -> {
          TestModel model = new TestModel(false, new long[] {3}, new long[] {2, 2});
          int[] moved = new int[2];
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  model.parameters(),
                  ReducerOptions.defaults().withRelocation(parameter -> moved[parameter]++))) {
            assertThat(reducer.gradient(1).shape()).containsExactly(2, 2);
            assertThat(moved).containsExactly(0, 0);
            Tensor before = reducer.gradient(0);
            model.step(reducer, group.rank());
            model.assertGradients(reducer, 0.5f);
            reducer.beginForward();
            model.assertGradients(reducer, 0.5f);
            assertThat(moved).containsExactly(1, 1);
            float[] stale = new float[3];
            TestModel.fill(reducer, 1, 9);
            before.copyTo(stale);
            assertThat(stale).containsOnly(9);
            model.zero(reducer);
            model.step(reducer, 2 * group.rank());
            model.assertGradients(reducer, 1);
            assertThat(moved).containsExactly(1, 1);
          }
          return null;
        });
  }

  @Test
  void severalTypesAreReducedInBucketsOfTheirOwn() {
    ranks(
        2,
        group -> {
          Tensor doubles = Tensor.of((double) group.rank(), 4);
          Tensor complex = Tensor.wrap(DType.COMPLEX64, new float[] {group.rank(), 1});
          Tensor floats = Tensor.of((float) group.rank());
          Tensor empty = Tensor.allocate(DType.FLOAT16, 0);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  List.of(
                      given("doubles", doubles),
                      given("complex", complex),
                      given("floats", floats),
                      given("empty", empty)),
                  ReducerOptions.defaults())) {
            for (int step = 0; step < 3; step++) {
              doubles.copyFrom(new double[] {group.rank(), 4});
              complex.copyFrom(new float[] {group.rank(), 1});
              floats.copyFrom(new float[] {group.rank()});
              reducer.reduce();
              assertThat((double[]) doubles.array()).containsExactly(0.5, 4);
              assertThat((float[]) complex.array()).containsExactly(0.5f, 1);
              assertThat((float[]) floats.array()).containsExactly(0.5f);
            }
            assertThat(reducer.buckets()).hasSize(4);
          }
          return null;
        });
  }

  private static Parameter given(String name, Tensor gradient) {
    return new Parameter(
        name, Tensor.allocate(gradient.dtype(), gradient.shape()), gradient, false);
  }

  @Test
  void bucketsBeginBeforeTheBackwardPassEnds() {
    ranks(
        2,
        group -> {
          TestModel model = TestModel.of(100, 100, 100);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  model.parameters(),
                  ReducerOptions.defaults().withBucketBytes(400).withRebuild(false))) {
            reducer.beginForward();
            reducer.beginBackward();
            // The second bucket is ready first, and waits for the first.
            reducer.markReady(1);
            ProcessGroup own = reducer.buckets().get(0).group();
            long none = sums(own);
            reducer.markReady(2);
            assertThat(
                    own.flightRecorder().records().stream()
                        .filter(each -> each.opType() == OpType.ALL_REDUCE))
                .hasSize((int) none + 2);
            reducer.markReady(0);
            reducer.finish();
          }
          return null;
        });
  }

  private static long sums(ProcessGroup group) {
    return group.flightRecorder().records().stream()
        .filter(each -> each.opType() == OpType.ALL_REDUCE)
        .count();
  }
}
