package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;

/** Tests which tensors come into which bucket. */
class BucketAssignmentTest {

  private static final DType[] TYPES = {DType.FLOAT32, DType.FLOAT16, DType.FLOAT64};

  static Stream<JsonNode> cases() {
    return Tables.of("bucket-assignment").stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void tensorsAreAssignedAsInTorch(JsonNode row) {
    long[] counts = Tables.longs(row.get("counts"));
    DType[] types = Tables.types(row.get("dtypes"));
    long[] bytes = Tables.bytes(counts, types);
    boolean[] sparse = Tables.booleans(row.path("expectSparse"), counts.length);
    long[] limits = Tables.longs(row.get("limits"));
    BucketAssignment assigned;
    if (row.has("tensorIndices")) {
      int[] order = Tables.ints(row.get("tensorIndices"));
      // The table has sizes and types in the order of use, and the flags by position.
      long[] bytesByPosition = new long[bytes.length];
      DType[] typesByPosition = new DType[bytes.length];
      for (int i = 0; i < order.length; i++) {
        bytesByPosition[order[i]] = bytes[i];
        typesByPosition[order[i]] = types[i];
      }
      assigned = BucketAssignment.of(bytesByPosition, typesByPosition, sparse, limits, order);
    } else {
      assigned = BucketAssignment.of(bytes, types, sparse, limits);
    }
    assertThat(assigned.buckets())
        .as(row.get("name").asText())
        .containsExactlyElementsOf(Tables.intLists(row.get("buckets")));
    assertThat(assigned.limits()).isEqualTo(Tables.longs(row.get("bucketLimits")));
  }

  @Property(tries = 300)
  void eachTensorIsInOneBucketAndOnlyTheLastOfATypeIsBelowItsLimit(
      @ForAll @Size(min = 1, max = 30) List<@IntRange(max = 40) Integer> counts,
      @ForAll @Size(min = 1, max = 3) List<@IntRange(max = 200) Integer> limits) {
    DType[] types = counts.stream().map(count -> TYPES[count % TYPES.length]).toArray(DType[]::new);
    long[] bytes = Tables.bytes(counts.stream().mapToLong(Integer::longValue).toArray(), types);
    BucketAssignment assigned =
        BucketAssignment.of(
            bytes,
            types,
            new boolean[types.length],
            limits.stream().mapToLong(Integer::longValue).toArray());
    assertThat(assigned.buckets().stream().flatMapToInt(Arrays::stream).sorted().toArray())
        .isEqualTo(IntStream.range(0, types.length).toArray());
    Map<DType, Integer> below = new EnumMap<>(DType.class);
    for (int i = 0; i < assigned.buckets().size(); i++) {
      int[] bucket = assigned.buckets().get(i);
      DType type = types[bucket[0]];
      assertThat(Arrays.stream(bucket)).allMatch(tensor -> types[tensor] == type);
      if (Arrays.stream(bucket).mapToLong(tensor -> bytes[tensor]).sum() < assigned.limits()[i]) {
        below.merge(type, 1, Integer::sum);
      }
    }
    assertThat(below.values()).allMatch(buckets -> buckets == 1);
  }

  @Test
  void remaindersOfSeveralTypesFollowInTheOrderOfTheirFirstTensors() {
    DType[] types = {DType.FLOAT64, DType.FLOAT32, DType.FLOAT16};
    assertThat(
            BucketAssignment.of(
                    new long[] {8, 4, 2},
                    types,
                    new boolean[3],
                    new long[] {99},
                    new int[] {1, 2, 0})
                .buckets())
        .containsExactly(new int[] {1}, new int[] {2}, new int[] {0});
  }

  @Test
  void whatCannotBeAssignedIsRefused() {
    long[] bytes = {4, 4};
    DType[] types = {DType.FLOAT32, DType.FLOAT32};
    boolean[] sparse = new boolean[2];
    assertThatThrownBy(() -> BucketAssignment.of(bytes, types, sparse, new long[0]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> BucketAssignment.of(bytes, types, sparse, new long[] {-1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("[-1]");
    assertThatThrownBy(
            () -> BucketAssignment.of(bytes, types, sparse, new long[] {1}, new int[] {0, 2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 tensors")
        .hasMessageContaining("position 2");
    assertThatThrownBy(
            () -> BucketAssignment.of(bytes, types, sparse, new long[] {1}, new int[] {1, 1}))
        .hasMessageContaining("position 1 twice");
    assertThatThrownBy(() -> BucketAssignment.of(bytes, types, new boolean[1], new long[] {1}))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
