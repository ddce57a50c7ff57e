package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The values of a reply that refers to many of them. */
class ValueFetchesTest {

  private final List<Byte> asked = new ArrayList<>();
  private final List<CompletableFuture<byte[]>> fetches = new ArrayList<>();
  private boolean wanted = true;

  private CompletableFuture<byte[]> fetch(byte[] reference) {
    asked.add(reference[0]);
    CompletableFuture<byte[]> bytes = new CompletableFuture<>();
    fetches.add(bytes);
    return bytes;
  }

  private CompletableFuture<List<StoredValue>> begin(List<StoredValue> values) {
    return ValueFetches.of(values, this::fetch, () -> wanted);
  }

  private static List<StoredValue> references(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> (StoredValue) new ReceivedValue(new byte[] {(byte) i}, true))
        .toList();
  }

  /** Ends the fetch that was begun as the {@code index}th. */
  private void arrive(int index) {
    fetches.get(index).complete(new byte[] {asked.get(index), 1});
  }

  @Test
  void onlyAFewAreUnderWayAtOnceAndAllComeInOrder() {
    CompletableFuture<List<StoredValue>> all = begin(references(10));
    assertThat(asked).hasSize(ValueFetches.MOST_AT_ONCE);
    for (int i : new int[] {3, 0, 1, 4, 2, 5, 9, 8, 7, 6}) {
      assertThat(all).isNotDone();
      arrive(i);
      long underWay = fetches.stream().filter(each -> !each.isDone()).count();
      assertThat(underWay).isLessThanOrEqualTo(ValueFetches.MOST_AT_ONCE);
    }
    assertThat(all.join())
        .extracting(value -> value.bytes()[0])
        .containsExactly(IntStream.range(0, 10).mapToObj(i -> (byte) i).toArray(Byte[]::new));
    assertThat(all.join()).allMatch(value -> value.reference().isEmpty() && value.size() == 2);
  }

  @Test
  void whatIsThereIsNotFetched() {
    List<StoredValue> values = new ArrayList<>(references(2));
    values.add(1, new ReceivedValue(new byte[] {7}, false));
    CompletableFuture<List<StoredValue>> all = begin(values);
    arrive(0);
    arrive(1);
    assertThat(all.join())
        .extracting(StoredValue::bytes)
        .containsExactly(new byte[] {0, 1}, new byte[] {7}, new byte[] {1, 1});
    assertThat(begin(List.of())).isCompletedWithValue(List.of());
    assertThat(asked).hasSize(2);
  }

  @Test
  void manyThatAreThereAtOnceDoNotFillTheStack() {
    List<StoredValue> values = references(100_000);
    CompletableFuture<List<StoredValue>> all =
        ValueFetches.of(
            values, reference -> CompletableFuture.completedFuture(reference), () -> true);
    assertThat(all.join()).hasSize(100_000);
  }

  @Test
  void oneThatFailsFailsAllAndNoFurtherOneBegins() {
    CompletableFuture<List<StoredValue>> all = begin(references(10));
    fetches.get(2).completeExceptionally(new ValueGoneException("replaced"));
    assertThat(all).isCompletedExceptionally();
    arrive(0);
    assertThat(asked).hasSize(ValueFetches.MOST_AT_ONCE);
    assertThatThrownBy(all::join).hasCauseInstanceOf(ValueGoneException.class);
  }

  @Test
  void oneThatCannotBeginFailsAll() {
    CompletableFuture<List<StoredValue>> all =
        ValueFetches.of(
            references(3),
            reference -> {
              throw new StoreException("no");
            },
            () -> true);
    assertThatThrownBy(all::join).hasCauseInstanceOf(StoreException.class);
  }

  @Test
  void noFurtherOneBeginsWhenNobodyWaits() {
    CompletableFuture<List<StoredValue>> all = begin(references(10));
    wanted = false;
    arrive(0);
    assertThat(asked).hasSize(ValueFetches.MOST_AT_ONCE);
    assertThatThrownBy(all::join).isInstanceOf(CancellationException.class);
  }
}
