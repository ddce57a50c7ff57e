package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which failures are for lack of file descriptors, and what they say. */
class DescriptorsExhaustedExceptionTest {

  /** As the JDK and Netty report it. */
  static Throwable[] lacks() {
    return new Throwable[] {
      new SocketException("Too many open files"),
      new IOException("newSocketStream(..) failed: Too many open files"),
      new FileSystemException("/dev/shm/a", null, "Too many open files"),
      new ChannelException("Failed to open a socket.", new SocketException("Too many open files")),
      new IllegalStateException(
          "failed to create a child event loop",
          new ChannelException(new IOException("Too many open files"))),
      new IllegalStateException(
          "failed to create a child event loop",
          new ChannelException("eventfd() failed: Too many open files"))
    };
  }

  @ParameterizedTest
  @MethodSource("lacks")
  void namesTheLimitAndWhatToDo(Throwable lack) {
    Throwable explained = DescriptorsExhaustedException.explain(lack);
    assertThat(explained)
        .isInstanceOf(DescriptorsExhaustedException.class)
        .hasMessageContaining("the process has no file descriptors left")
        .hasMessageContaining("ulimit -n");
    assertThat(DescriptorsExhaustedException.explain(new ChannelException(explained)))
        .isSameAs(explained);
  }

  @Test
  void namesTheHostIfThatHasNoneLeft() {
    assertThat(
            DescriptorsExhaustedException.explain(
                new SocketException("Too many open files in system")))
        .isInstanceOf(DescriptorsExhaustedException.class)
        .hasMessageContaining("the host has no file descriptors left")
        .hasMessageContaining("fs.file-max");
  }

  @Test
  void leavesOtherFailuresAlone() {
    Throwable other = new ChannelException("Failed", new SocketException("Connection refused"));
    assertThat(DescriptorsExhaustedException.explain(other)).isSameAs(other);
    assertThat(DescriptorsExhaustedException.explain(new IOException())).hasMessage(null);
  }
}
