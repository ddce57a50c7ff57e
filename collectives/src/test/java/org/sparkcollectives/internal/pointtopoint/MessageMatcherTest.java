package org.sparkcollectives.internal.pointtopoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.FaultyMemory;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests what becomes of messages that end before or while they meet. */
class MessageMatcherTest {

  private static final int TAG = 3;

  private final MessageMatcher matcher = new MessageMatcher(1);
  private final List<String> events = new ArrayList<>();

  private PostedReceive receive(HostTensor tensor) {
    return new PostedReceive(
        0,
        TAG,
        tensor,
        new PostedReceive.Listener() {
          @Override
          public void matched(int source) {}

          @Override
          public void received() {
            events.add("received");
          }

          @Override
          public void failed(Throwable cause) {
            events.add("receive failed: " + cause.getMessage());
          }
        });
  }

  private PostedSend send(HostTensor tensor) {
    return new PostedSend(
        TAG,
        tensor,
        new PostedSend.Listener() {
          @Override
          public void matched() {}

          @Override
          public void sent() {
            events.add("sent");
          }

          @Override
          public void failed(Throwable cause) {
            events.add("send failed: " + cause.getMessage());
          }
        });
  }

  private void sendTo(HostTensor tensor) {
    new LocalMessagePath(0, matcher, Runnable::run).send(send(tensor));
  }

  private static HostTensor faulty(String what) {
    return HostTensor.of(
        new FaultyMemory(0, () -> new IllegalStateException(what)).tensor(DType.INT32, 4));
  }

  private static HostTensor sound() {
    return HostTensor.allocate(DType.INT32, 4);
  }

  @Test
  void aReceiveThatEndedBeforeItWasPostedIsNotKept() {
    PostedReceive receive = receive(sound());
    receive.cancel();
    assertThat(matcher.withdraw(receive)).isFalse();
    matcher.post(receive);
    assertThat(matcher.withdraw(receive)).isFalse();
  }

  @Test
  void aReceiveThatIsPostedToAMatcherThatIsClosedIsNotKept() {
    PostedReceive receive = receive(sound());
    matcher.close();
    matcher.post(receive);
    assertThat(matcher.withdraw(receive)).isFalse();
  }

  @Test
  void closingTellsNoSenderBecauseTheGroupMayHaveFailed() {
    sendTo(sound());
    matcher.close();
    sendTo(sound());
    assertThat(events).isEmpty();
  }

  @Test
  void theSideWhoseTensorThrowsFails() {
    matcher.post(receive(sound()));
    sendTo(faulty("the sender's"));
    matcher.post(receive(faulty("the receiver's")));
    sendTo(sound());
    assertThat(events)
        .containsExactly("send failed: the sender's", "receive failed: the receiver's");
  }

  @Test
  void aMessageIsCopiedWhereThereIsNoThreadForIt() {
    HostTensor large = HostTensor.allocate(DType.INT32, 100_000);
    matcher.post(receive(HostTensor.allocate(DType.INT32, 100_000)));
    new LocalMessagePath(
            0,
            matcher,
            copy -> {
              throw new OutOfMemoryError("unable to create native thread");
            })
        .send(send(large));
    assertThat(events).containsExactly("received", "sent");
  }
}
