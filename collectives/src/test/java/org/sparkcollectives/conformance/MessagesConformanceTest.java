package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** Tests send, receive, and receive from any rank. */
class MessagesConformanceTest extends OperationConformanceTest {

  private static final int ANY = 7;

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public void check(CaseRun run) {
    if (run.world() == 1) {
      assertThatThrownBy(() -> run.group().recvAny(run.blank(1), 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("alone");
      assertThatThrownBy(() -> run.group().send(run.given(0, 1), 0, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("this very rank");
      return;
    }
    everyoneToEveryone(run);
    everyoneToOne(run);
  }

  /** Sends from every rank to every other. The tag is the sender, and the count depends on both. */
  private static void everyoneToEveryone(CaseRun run) {
    List<Work> works = new ArrayList<>();
    List<Tensor> received = new ArrayList<>();
    List<Tensor> sent = new ArrayList<>();
    int[] counts = run.uneven();
    for (int distance = 1; distance < run.world(); distance++) {
      int source = (run.rank() - distance + run.world()) % run.world();
      int destination = (run.rank() + distance) % run.world();
      received.add(run.blank(counts[source]));
      sent.add(run.given(destination, counts[run.rank()]));
      works.add(run.group().recv(received.get(distance - 1), source, source));
      works.add(run.group().send(sent.get(distance - 1), destination, run.rank()));
    }
    works.forEach(Work::await);
    for (int distance = 1; distance < run.world(); distance++) {
      int source = (run.rank() - distance + run.world()) % run.world();
      run.assertMoved(received.get(distance - 1), source, run.rank());
      assertThat(works.get(2 * distance - 2).sourceRank()).isEqualTo(source);
      run.assertUntouched(sent.get(distance - 1), (run.rank() + distance) % run.world());
    }
  }

  private static void everyoneToOne(CaseRun run) {
    int root = run.world() - 1;
    if (run.rank() != root) {
      run.group().send(run.given(run.rank(), run.count()), root, ANY).await();
    } else {
      List<Integer> sources = new ArrayList<>();
      for (int i = 1; i < run.world(); i++) {
        Tensor tensor = run.blank(run.count());
        Work work = run.group().recvAny(tensor, ANY);
        work.await();
        run.assertMoved(tensor, work.sourceRank(), work.sourceRank());
        sources.add(work.sourceRank());
      }
      assertThat(sources).doesNotHaveDuplicates().doesNotContain(root);
    }
    // Without it the next case's messages to the root might overtake.
    run.group().barrier().await();
  }
}
