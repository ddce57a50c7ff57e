package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.net.EventLoops;

/**
 * A peer whose connection breaks after it was accepted, but before the peer knows that, connects
 * again.
 */
class RepeatedConnectionTest {

  private final RankOfTwo rank = new RankOfTwo();
  private final StreamPair pair = (StreamPair) rank.pairs().pair(1);
  private final EventLoops loops = EventLoops.openNio("repeated-test", 1);
  private DirectConnection first;

  @BeforeEach
  void connect() throws IOException {
    first = new DirectConnection(loops);
    first.onLoop(() -> pair.accepted(first.channel()));
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    first.close();
    loops.close();
  }

  @Test
  void isRefusedAndLeavesNoMemoryOfTheFirst() throws IOException {
    ByteBuf bytes = Unpooled.directBuffer().writeLong(7);
    first.onLoop(() -> first.channel().pipeline().fireChannelRead(bytes));
    try (DirectConnection second = new DirectConnection(loops)) {
      second.onLoop(() -> pair.accepted(second.channel()));

      second.awaitClosed();
      assertThat(first.channel().isOpen()).isTrue();
      pair.breakOff();
      pair.free();
      assertThat(bytes.refCnt()).isZero();
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void isRefusedAlsoIfItOffersSharedMemory(@TempDir Path folder) throws IOException {
    EmbeddedChannel second = new EmbeddedChannel();
    pair.accepted(second, SharedRing.create(folder));

    assertThat(second.isOpen()).isFalse();
    assertThat(first.channel().isOpen()).isTrue();
    pair.breakOff();
    pair.free();
  }
}
