package org.sparkcollectives.internal.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** Tests how many broadcasts are begun before the first is awaited, by a group that counts them. */
class CoalescedBroadcastTest {

  private final List<Tensor> sent = new ArrayList<>();
  private int underWay;
  private int mostUnderWay;
  private int failing = -1;

  private ProcessGroup group() {
    return (ProcessGroup)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ProcessGroup.class},
            (proxy, method, arguments) ->
                method.getName().equals("broadcast") ? broadcast((Tensor) arguments[0]) : 0);
  }

  private Work broadcast(Tensor tensor) {
    int number = sent.size();
    sent.add(tensor);
    mostUnderWay = Math.max(mostUnderWay, ++underWay);
    return (Work)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Work.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("await");
              underWay--;
              if (number == failing) {
                throw new IllegalStateException("broadcast " + number);
              }
              return null;
            });
  }

  private static List<Tensor> tensors() {
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      tensors.add(Tensor.of(i, i));
    }
    return tensors;
  }

  @Test
  void atMostTwoBuffersAreUnderWay() {
    new CoalescedBroadcast(group(), tensors(), 0).run(16);

    assertThat(sent).hasSize(6).allMatch(each -> each.count() == 4);
    assertThat(mostUnderWay).isEqualTo(2);
    assertThat(underWay).isZero();
  }

  @Test
  void aTensorAsLargeAsTheBufferIsNotCopied() {
    List<Tensor> tensors = tensors();

    new CoalescedBroadcast(group(), tensors, 0).run(8);

    assertThat(sent).containsExactlyElementsOf(tensors);
  }

  @Test
  void afterAFailureNothingIsUnderWayAnyMore() {
    failing = 1;

    assertThatThrownBy(() -> new CoalescedBroadcast(group(), tensors(), 0).run(16))
        .hasMessage("broadcast 1");

    assertThat(sent).hasSize(3);
    assertThat(underWay).isZero();
  }
}
