package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;

/** Tests the buckets of the first step and those that replace them. */
class BucketPlanTest {

  private static final double MEBIBYTE = 1 << 20;

  static Stream<JsonNode> cases() {
    return Tables.of("bucket-plans").stream();
  }

  /** Returns the options of a row of the table. */
  static ReducerOptions options(JsonNode given) {
    ReducerOptions options =
        ReducerOptions.defaults()
            .withFindUnused(given.path("findUnused").asBoolean())
            .withStaticGraph(given.path("staticGraph").asBoolean())
            .withGradientAsBucketView(given.path("gradientAsBucketView").asBoolean());
    if (given.has("bucketCapMiB")) {
      options = options.withBucketBytes((long) (given.get("bucketCapMiB").asDouble() * MEBIBYTE));
    }
    if (given.has("bucketCapMiBList")) {
      options =
          options.withBucketBytes(
              Tables.list(given.get("bucketCapMiBList")).stream()
                  .mapToLong(limit -> (long) (limit.asDouble() * MEBIBYTE))
                  .toArray());
    }
    return options;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void bucketsAreThoseOfTorchBeforeAndAfterTheyAreRebuilt(JsonNode row) {
    DType[] types = Tables.types(row.get("dtypes"));
    long[] bytes = Tables.bytes(Tables.longs(row.get("counts")), types);
    BucketPlan plan =
        new BucketPlan(options(row.get("options")), bytes, types, new boolean[types.length]);
    assertThat(sizes(plan.first(), bytes)).isEqualTo(Tables.longs(row.get("initialBucketBytes")));
    assertThat(plan.willBeRebuilt()).isEqualTo(!row.get("rebuilt").isNull());
    if (plan.willBeRebuilt()) {
      List<int[]> rebuilt = plan.inOrder(Tables.ints(row.get("readyOrderRank0")));
      assertThat(rebuilt).containsExactlyElementsOf(Tables.intLists(row.get("rebuilt")));
      assertThat(sizes(rebuilt, bytes)).isEqualTo(Tables.longs(row.get("rebuiltBucketBytes")));
    }
  }

  private static long[] sizes(List<int[]> buckets, long[] bytes) {
    return buckets.stream()
        .mapToLong(bucket -> Arrays.stream(bucket).mapToLong(tensor -> bytes[tensor]).sum())
        .toArray();
  }

  private static BucketPlan six(ReducerOptions options) {
    long[] bytes = new long[6];
    DType[] types = new DType[6];
    Arrays.fill(bytes, 100);
    Arrays.fill(types, DType.FLOAT32);
    return new BucketPlan(options, bytes, types, new boolean[6]);
  }

  @Test
  void theSmallBucketMayBeTheLastInsteadOfTheFirst() {
    ReducerOptions options =
        ReducerOptions.defaults().withBucketBytes(300).withFirstBucketBytes(100);
    int[] order = {5, 4, 3, 2, 1, 0};
    assertThat(six(options).inOrder(order))
        .containsExactly(new int[] {5}, new int[] {4, 3, 2}, new int[] {1, 0});
    assertThat(six(options.withSmallLastBucket(true)).inOrder(order))
        .containsExactly(new int[] {5, 4}, new int[] {3, 2, 1}, new int[] {0});
  }

  @Test
  void anOrderThatIsKnownIsFollowedFromTheFirstStepOn() {
    BucketPlan plan =
        six(ReducerOptions.defaults().withBucketBytes(200).withReadyOrder(3, 1, 5, 0, 2, 4));
    assertThat(plan.willBeRebuilt()).isFalse();
    assertThat(plan.first()).containsExactly(new int[] {3, 1}, new int[] {5, 0}, new int[] {2, 4});
  }

  @Test
  void withoutRebuildingTheLastParametersComeFirst() {
    BucketPlan plan = six(ReducerOptions.defaults().withBucketBytes(200).withRebuild(false));
    assertThat(plan.willBeRebuilt()).isFalse();
    assertThat(plan.first()).containsExactly(new int[] {4, 5}, new int[] {2, 3}, new int[] {0, 1});
  }

  @Test
  void limitsBelowOneByteAreRefused() {
    for (long limit : new long[] {0, -1}) {
      assertThatThrownBy(() -> ReducerOptions.defaults().withBucketBytes(limit))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not " + limit);
      assertThatThrownBy(() -> ReducerOptions.defaults().withFirstBucketBytes(limit))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> ReducerOptions.defaults().withBucketBytes())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ReducerOptions.defaults().withStatisticsEvery(0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
