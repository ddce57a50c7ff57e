package org.sparkcollectives.internal.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** Tests which operations belong to which block, with several threads. */
class CoalescingBlocksTest {

  private final CoalescingBlocks blocks = new CoalescingBlocks("world");

  /** Returns a work whose result is {@code tensor}. */
  private static Work work(Tensor tensor) {
    return Work.of(OpType.ALL_REDUCE, 0, CompletableFuture.completedFuture(List.of(tensor)));
  }

  private static void onAnotherThread(Runnable action) throws Exception {
    CompletableFuture.runAsync(action, command -> new Thread(command, "test-other").start())
        .get(30, TimeUnit.SECONDS);
  }

  @Test
  void aBlockThatAnotherThreadClosesCountsAsAbsent() throws Exception {
    Tensor inside = Tensor.of(1);
    Coalescing block = blocks.open(List.of());
    blocks.begun(work(inside));
    onAnotherThread(block::close);
    Work after = work(Tensor.of(2));
    assertThat(blocks.begun(after)).isSameAs(after);
    assertThat(block.work().future().join()).containsExactly(inside);

    Tensor ofTheNext = Tensor.of(3);
    Coalescing next = blocks.open(List.of());
    blocks.begun(work(ofTheNext));
    // Closing the first one again does not end the second.
    block.close();
    blocks.begun(work(ofTheNext));
    next.close();
    assertThat(next.work().future().join()).containsExactly(ofTheNext, ofTheNext);
    assertThat(block.work().future().join()).containsExactly(inside);
  }

  @Test
  void aBlockHasTheOperationsOfItsThreadOnly() throws Exception {
    Tensor mine = Tensor.of(1);
    Coalescing block = blocks.open(List.of());
    onAnotherThread(() -> blocks.begun(work(Tensor.of(2))));
    blocks.begun(work(mine));
    block.close();
    assertThat(block.work().future().join()).containsExactly(mine);
  }

  @Test
  void oneBlockAThreadIsOpenAtATime() throws Exception {
    try (Coalescing block = blocks.open(List.of())) {
      assertThatThrownBy(() -> blocks.open(List.of()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("of group \"world\" is open already");
      assertThatThrownBy(block::work)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is not closed yet");
      onAnotherThread(() -> blocks.open(List.of()).close());
    }
    Coalescing empty = blocks.open(List.of());
    empty.close();
    assertThatThrownBy(empty::work)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("No operation was begun");
  }

  @RepeatedTest(5)
  void whatABlockHasIsSettledOnceItIsClosed() throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    Coalescing block = blocks.open(List.of());
    blocks.begun(work(Tensor.of(0)));
    CompletableFuture<Void> settled =
        CompletableFuture.runAsync(
            () -> {
              awaitAt(start);
              block.close();
              int atFirst = block.work().future().join().size();
              for (int i = 0; i < 20; i++) {
                assertThat(block.work().future().join()).hasSize(atFirst);
              }
            },
            command -> new Thread(command, "test-closer").start());
    awaitAt(start);
    while (!settled.isDone()) {
      blocks.begun(work(Tensor.of(1)));
    }
    settled.get(30, TimeUnit.SECONDS);
  }

  private static void awaitAt(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
