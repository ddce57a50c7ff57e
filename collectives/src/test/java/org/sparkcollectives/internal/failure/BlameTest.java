package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketException;
import java.nio.file.FileSystemException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.failure.Blame.Whose;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.transport.LentTensorException;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.spi.tensor.FaultyMemory;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests whose failure it is that something was thrown. */
class BlameTest {

  private static Throwable thrownBy(HostTensor tensor) {
    try {
      tensor.toArray(0, 1, new int[1], 0);
      throw new AssertionError("nothing was thrown");
    } catch (IllegalStateException e) {
      return e;
    }
  }

  private static HostTensor faulty() {
    return HostTensor.of(
        new FaultyMemory(0, () -> new IllegalStateException("closed")).tensor(DType.INT32, 4));
  }

  private static Throwable lent(Throwable thrown, HostTensor tensor) {
    try {
      LentTensorException.throwIfArose(thrown, 2, tensor);
      return thrown;
    } catch (LentTensorException e) {
      return e;
    }
  }

  @Test
  void whatARankThrowsIsItsOwn() {
    Throwable fault = new IllegalStateException("closed");
    assertThat(Blame.of(fault)).isEqualTo(new Blame(Whose.OWN, -1, fault));
    Throwable user = new CollectiveException("of a user");
    assertThat(Blame.of(user)).isEqualTo(new Blame(Whose.OWN, -1, user));
  }

  @Test
  void whatATensorThrowsIsItsOwners() {
    HostTensor theirs = faulty();
    Throwable thrown = thrownBy(theirs.slice(1, 2));
    assertThat(Blame.of(lent(thrown, theirs))).isEqualTo(new Blame(Whose.OTHER_RANK, 2, thrown));
    Throwable own = thrownBy(faulty());
    assertThat(Blame.of(lent(own, theirs))).isEqualTo(new Blame(Whose.OWN, -1, own));
  }

  @Test
  void aBrokenPathMayHaveAnyReason() {
    Throwable reset = new TransportException("reset", 1, new IOException("reset by peer"));
    assertThat(Blame.of(reset)).isEqualTo(new Blame(Whose.PATH, 1, reset));
    Throwable some = new TransportException("reset");
    assertThat(Blame.of(some)).isEqualTo(new Blame(Whose.SOME_PATH, -1, some));
  }

  @Test
  void aConnectionThatEndsForLackOfMemoryIsThisRanksFailure() {
    Throwable error = new OutOfMemoryError("direct memory");
    Throwable end = new IOException("the connection ended", error);
    assertThat(Blame.ofPath(1, end)).isEqualTo(new Blame(Whose.OWN, -1, error));
    assertThat(Blame.of(new TransportException("lost", 1, end)))
        .isEqualTo(new Blame(Whose.OWN, -1, error));
  }

  @Test
  void aConnectionThatCannotBeMadeForLackOfFileDescriptorsIsThisRanksFailure() {
    Throwable lack =
        DescriptorsExhaustedException.explain(new SocketException("Too many open files"));
    assertThat(Blame.of(new TransportException("cannot connect", 1, lack)))
        .isEqualTo(new Blame(Whose.OWN, -1, lack));
    assertThat(Blame.of(lack)).isEqualTo(new Blame(Whose.OWN, -1, lack));
    Throwable ofFile = new FileSystemException("/proc/1/fd/2", null, "Too many open files");
    for (Throwable unexplained :
        List.of(
            new TransportException("memory cannot be seen", ofFile),
            new TransportException("lost", 1, ofFile))) {
      assertThat(Blame.of(unexplained))
          .satisfies(
              blame -> {
                assertThat(blame.whose()).isEqualTo(Whose.OWN);
                assertThat(blame.cause()).isInstanceOf(DescriptorsExhaustedException.class);
              });
    }
  }

  @Test
  void whatFollowsFromAFailureIsNobodysNews() {
    Throwable peer =
        new PeerFailedException(
            "it failed",
            Ranks.membership(0, 2).identityOf(1).failure(Failure.Kind.EXCEPTION, "", -1, "x"));
    assertThat(Blame.of(peer).whose()).isEqualTo(Whose.CONSEQUENCE);
  }
}
