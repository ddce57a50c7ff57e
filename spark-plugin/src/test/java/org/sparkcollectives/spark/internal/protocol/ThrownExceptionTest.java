package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Arrays;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests which exceptions of ranks the driver is sent, and that no exception does harm there. */
class ThrownExceptionTest {

  @Test
  void anExceptionArrivesWithItsCausesAndStackTrace() {
    Exception thrown = new IllegalStateException("outer", new IOException("inner"));
    assertThat(ThrownException.decode(ThrownException.encode(thrown)))
        .hasValueSatisfying(
            read ->
                assertThat(read)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("outer")
                    .hasCauseInstanceOf(IOException.class)
                    .hasRootCauseMessage("inner")
                    .extracting(Throwable::getStackTrace)
                    .isEqualTo(thrown.getStackTrace()));
  }

  /** A user's exception with state of its own. */
  private static class Stateful extends RuntimeException {

    private static final long serialVersionUID = 1;

    @SuppressWarnings({"serial", "unused"}) // That it cannot be serialized is the test.
    private final Object state;

    Stateful(Object state) {
      super(String.valueOf(state));
      this.state = state;
    }
  }

  private static final class FailsToWrite extends Stateful {

    private static final long serialVersionUID = 1;

    private final LinkageError fault;

    FailsToWrite(LinkageError fault) {
      super("unwritable");
      this.fault = fault;
    }

    @SuppressWarnings("unused") // Java calls it.
    private void writeObject(ObjectOutputStream stream) {
      throw fault;
    }
  }

  private static final class FailsToRead extends Stateful {

    private static final long serialVersionUID = 1;

    FailsToRead() {
      super("unreadable");
    }

    @SuppressWarnings("unused") // Java calls it.
    private void readObject(ObjectInputStream stream) {
      throw new IllegalStateException("cannot be read");
    }
  }

  private static Throwable chain(int causes) {
    Throwable chain = null;
    for (int i = 0; i <= causes; i++) {
      chain = new Exception("cause", chain);
      chain.setStackTrace(new StackTraceElement[0]);
    }
    return chain;
  }

  @SuppressWarnings("ImmutableEnumChecker") // The suppliers have no state.
  enum Unsendable {
    STATE(() -> new Stateful(new Object())),
    STATE_OF_A_CAUSE(() -> new IllegalStateException(new Stateful(Thread.currentThread()))),
    ERROR_WHILE_WRITTEN(() -> new FailsToWrite(new NoClassDefFoundError("absent"))),
    LONG_MESSAGE(() -> new IllegalStateException("x".repeat(1 << 20))),
    LONG_MESSAGE_OF_A_CAUSE(() -> new IllegalStateException(new Exception("x".repeat(1 << 24)))),
    LARGE_STATE(() -> new Stateful(new byte[1 << 24])),
    CAUSES_DEEPER_THAN_THE_STACK(() -> chain(200_000));

    private final Supplier<Throwable> thrown;

    Unsendable(Supplier<Throwable> thrown) {
      this.thrown = thrown;
    }
  }

  @ParameterizedTest
  @EnumSource(Unsendable.class)
  void whatCannotBeSentIsNoBytesAndNoException(Unsendable unsendable) {
    byte[] encoded = ThrownException.encode(unsendable.thrown.get());
    assertThat(encoded).isEmpty();
    assertThat(ThrownException.decode(encoded)).isEmpty();
  }

  @Test
  void aLongMessageThatFitsArrivesWhole() {
    String message = "x".repeat(1_000_000);
    assertThat(ThrownException.decode(ThrownException.encode(new Exception(message))))
        .hasValueSatisfying(read -> assertThat(read).hasMessage(message));
  }

  @Test
  void whatTheDriverCannotReadIsNoException() {
    assertThat(ThrownException.decode(ThrownException.encode(new FailsToRead()))).isEmpty();
    byte[] whole = ThrownException.encode(new IllegalStateException("whole"));
    for (int length = 0; length < whole.length; length += 97) {
      assertThat(ThrownException.decode(Arrays.copyOf(whole, length))).isEmpty();
    }
  }
}
