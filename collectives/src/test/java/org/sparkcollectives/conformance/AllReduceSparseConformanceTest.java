package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.sparkcollectives.DType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Tests sums of sparse tensors: of rows, or in tensors of odd size of single elements of a matrix.
 */
class AllReduceSparseConformanceTest extends OperationConformanceTest {

  private static final int WIDTH = 4;

  @Override
  public boolean reduces() {
    return true;
  }

  /** Returns sums alone, because no other reduction can be asked for. */
  @Override
  public List<Reduction> reductions() {
    return List.of(Reduction.SUM);
  }

  @Override
  public void check(CaseRun run) {
    boolean rows = run.what().size() != CaseSize.ODD;
    int dense = rows ? WIDTH : 1;
    int stored = stored(run, run.rank());
    long[] shape = {height(run), WIDTH};
    HostTensor indices = run.blank(DType.INT64, stored * (rows ? 1 : 2));
    indices.copyFrom(rows ? places(run, run.rank()) : split(places(run, run.rank())));
    HostTensor values = run.given(0, stored * dense);
    Work work =
        run.group()
            .allReduce(
                SparseTensor.of(
                    shape,
                    indices.reshape(rows ? 1 : 2, stored),
                    rows ? values.reshape(stored, WIDTH) : values));
    work.await();
    SparseTensor sum = work.sparseResult();
    assertSum(run, sum, dense);
    assertThat(sum.shape()).isEqualTo(shape);
    run.assertUntouched(values, 0);
    run.assertAgreed(sum.values());
  }

  private static void assertSum(CaseRun run, SparseTensor sum, int dense) {
    SortedMap<Long, List<ByteBuffer>> terms = terms(run, dense);
    long[] expected = terms.keySet().stream().mapToLong(Long::longValue).toArray();
    long[] actual = new long[(int) sum.indices().count()];
    sum.indices().copyTo(actual);
    assertThat(actual).isEqualTo(dense == 1 ? split(expected) : expected);
    long at = 0;
    for (List<ByteBuffer> place : terms.values()) {
      Expected value = Model.reduced(run.what().dtype(), Reduction.SUM, place);
      run.check(
          "sum " + at / dense, sum.values().slice(0, sum.values().count()).slice(at, dense), value);
      at += dense;
    }
    assertThat(at).isEqualTo(sum.values().count());
  }

  /** Returns what all ranks store at each index. */
  private static SortedMap<Long, List<ByteBuffer>> terms(CaseRun run, int dense) {
    SortedMap<Long, List<ByteBuffer>> terms = new TreeMap<>();
    int width = dense * run.what().dtype().bytes();
    for (int rank = 0; rank < run.world(); rank++) {
      long[] places = places(run, rank);
      ByteBuffer values = Contributions.of(run.what().dtype(), rank, 0, places.length * dense);
      for (int i = 0; i < places.length; i++) {
        terms
            .computeIfAbsent(places[i], place -> new ArrayList<>())
            .add(values.slice(i * width, width).order(values.order()));
      }
    }
    return terms;
  }

  /** Returns how many elements a rank stores; some ranks store none where there are few. */
  private static int stored(CaseRun run, int rank) {
    int count = run.uneven()[rank];
    return run.what().size() == CaseSize.LARGE ? Math.min(count, 3000) / WIDTH : count;
  }

  private static int height(CaseRun run) {
    return 2 + run.count() / 8;
  }

  /**
   * Returns indices among few enough rows that some are stored twice, by one rank and by several.
   */
  private static long[] places(CaseRun run, int rank) {
    long[] places = new long[stored(run, rank)];
    int range = run.what().size() == CaseSize.ODD ? height(run) * WIDTH : height(run);
    Arrays.setAll(places, i -> (31L * i * i + 7L * rank + 3) % range);
    return places;
  }

  /** Returns indices in a matrix as rows and columns. */
  private static long[] split(long[] places) {
    long[] both = new long[2 * places.length];
    for (int i = 0; i < places.length; i++) {
      both[i] = places[i] / WIDTH;
      both[places.length + i] = places[i] % WIDTH;
    }
    return both;
  }
}
