package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.internal.transport.shm.SharedRing;

/**
 * A peer whose connection breaks after it was accepted, but before the peer knows that, connects
 * again.
 */
class RepeatedConnectionTest {

  private final RankOfTwo rank = new RankOfTwo();
  private final StreamPair pair = (StreamPair) rank.pairs().pair(1);
  private final EmbeddedChannel first = new EmbeddedChannel();
  private final EmbeddedChannel second = new EmbeddedChannel();

  @Test
  void isRefusedAndLeavesNoMemoryOfTheFirst() {
    pair.accepted(first);
    ByteBuf bytes = first.alloc().directBuffer().writeLong(7);
    first.pipeline().fireChannelRead(bytes);

    pair.accepted(second);

    assertThat(second.isOpen()).isFalse();
    assertThat(first.isOpen()).isTrue();
    pair.breakOff();
    pair.free();
    assertThat(bytes.refCnt()).isZero();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void isRefusedAlsoIfItOffersSharedMemory(@TempDir Path folder) throws IOException {
    pair.accepted(first);
    pair.accepted(second, SharedRing.create(folder));

    assertThat(second.isOpen()).isFalse();
    assertThat(first.isOpen()).isTrue();
    pair.breakOff();
    pair.free();
  }
}
