package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.shm.SharedRing;

/** Tests the outcomes of an offer of shared memory. */
@EnabledOnOs(OS.LINUX)
class RingOfferTest {

  private final List<String> events = new ArrayList<>();
  private final ReturnPath returnPath =
      new ReturnPath(
          new ConnectionListener() {
            @Override
            public void finished(long lastCollective) {
              events.add("finished");
            }

            @Override
            public void refused(CollectiveMismatchException why) {
              events.add("refused");
            }

            @Override
            public void broken(Throwable cause) {
              events.add("broken");
            }
          });

  private boolean answered(Path folder, int answer) {
    SharedRing ring =
        RingOffer.prepare(new SharedFolder(folder, Runnable::run), new AtomicBoolean());
    EmbeddedChannel channel = new EmbeddedChannel();
    RingOffer offer = RingOffer.make(channel, ring, returnPath);
    ByteBuf offered = channel.readOutbound();
    offered.release();
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {(byte) answer}));
    channel.close();
    ring.close();
    return offer.answer().join();
  }

  @Test
  void aRefusalIsNotTheEndOfThePath(@TempDir Path folder) {
    assertThat(answered(folder, 2)).isFalse();
    assertThat(events).isEmpty();
  }

  @Test
  void theEndOfAConnectionThatStandsForTakenMemoryIs(@TempDir Path folder) {
    assertThat(answered(folder, 1)).isTrue();
    assertThat(events).containsExactly("broken");
  }
}
