package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Threads;

/** Specifies the labels that programs give to their operations. */
interface RecordNotesContract extends RanksUnderTest {

  private static List<String> labels(ProcessGroup group) {
    return group.flightRecorder().records().stream().map(each -> each.notes().label()).toList();
  }

  @Test
  default void operationsHaveTheLabelOfTheirThreadAndGroup() throws Exception {
    try (Threads threads = new Threads()) {
      ranks(
          2,
          group -> {
            group.barrier().await();
            try (CommLabel outer = group.recordComm("step")) {
              group.allReduce(Tensor.of(1f)).await();
              try (CommLabel inner = group.withTimeout(group.timeout()).recordComm("gradients")) {
                assertThat(inner.name()).isEqualTo("gradients");
                group.allReduce(Tensor.of(1f)).await();
                Future<Void> other =
                    threads.start(
                        () -> {
                          group.barrier().await();
                          assertThatThrownBy(inner::close)
                              .isInstanceOf(IllegalStateException.class)
                              .hasMessageContaining("\"gradients\"");
                          return null;
                        });
                Threads.result(other);
              }
              group.barrier().await();
              assertThat(outer.name()).isEqualTo("step");
            }
            CommLabel twice = group.recordComm("nothing");
            twice.close();
            twice.close();
            group.barrier().await();
            assertThat(labels(group)).containsExactly("", "step", "gradients", "", "step", "");
            try (CommLabel other = group.recordComm("other");
                ProcessGroup made = group.newGroup()) {
              made.barrier().await();
              assertThat(labels(made)).as("not under %s", other.name()).containsExactly("");
            }
            assertThatThrownBy(() -> group.recordComm(""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the name is empty");
            return null;
          });
    }
  }
}
