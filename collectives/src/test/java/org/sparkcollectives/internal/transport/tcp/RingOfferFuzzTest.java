package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.shm.SharedFile;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.testing.FuzzedStream;

/**
 * What a peer can do with whatever it sends as an offer of shared memory: a rank takes the memory
 * that was made for it and no other, answers once, and hears of the end of what it took.
 */
@EnabledOnOs(OS.LINUX)
class RingOfferFuzzTest {

  private static final int OFFER_BYTES = SharedRing.ADDRESS_BYTES;

  /** An input is what an offer is changed by, bit for bit, and what follows it. */
  static Stream<byte[]> seeds() {
    byte[] unchanged = new byte[OFFER_BYTES];
    byte[] otherNonce = new byte[OFFER_BYTES];
    otherNonce[3] = 1;
    byte[] otherProcess = new byte[OFFER_BYTES];
    otherProcess[SharedFile.NONCE_BYTES] = (byte) 0x80;
    byte[] otherDescriptor = new byte[OFFER_BYTES];
    otherDescriptor[OFFER_BYTES - 1] = 1;
    byte[] end = MessageHeader.end(3);
    return Stream.of(
        FuzzedStream.seed(0, unchanged),
        FuzzedStream.seed(5, unchanged, end),
        FuzzedStream.seed(0, unchanged, new byte[5]),
        FuzzedStream.seed(0, otherNonce, end),
        FuzzedStream.seed(1, otherProcess),
        FuzzedStream.seed(0, otherDescriptor),
        FuzzedStream.seed(0, new byte[OFFER_BYTES - 1]),
        FuzzedStream.seed(0));
  }

  @MethodSource("seeds")
  @FuzzTest
  void memoryIsTakenOnceIfItIsWhatWasMadeForThis(byte[] input) throws IOException {
    Path folder = Files.createTempDirectory("rings");
    try (SharedRing ring = SharedRing.create(folder)) {
      check(new FuzzedStream(input), ring.address());
    } finally {
      Files.delete(folder);
    }
  }

  private static void check(FuzzedStream stream, byte[] offer) {
    List<SharedRing> taken = new ArrayList<>();
    List<String> ends = new ArrayList<>();
    List<Runnable> logged = new ArrayList<>();
    EmbeddedChannel channel =
        new EmbeddedChannel(new RingOffer.Taker(taken::add, listener(ends), logged::add));
    int at = 0;
    boolean changed = false;
    for (byte[] piece : stream.pieces()) {
      for (int i = 0; i < piece.length && at < OFFER_BYTES; i++, at++) {
        changed |= piece[i] != 0;
        piece[i] ^= offer[at];
      }
      if (channel.isOpen()) {
        channel.writeInbound(Unpooled.wrappedBuffer(piece));
        channel.runPendingTasks();
      }
    }
    boolean whole = at == OFFER_BYTES;
    List<Byte> answers = answers(channel);
    channel.close();
    channel.finishAndReleaseAll();
    if (whole && !changed) {
      assertThat(answers).containsExactly((byte) 1);
      assertThat(taken).hasSize(1);
      assertThat(ends).hasSize(1);
    } else {
      assertThat(answers).isEqualTo(whole ? List.of((byte) 2) : List.of());
      assertThat(taken).isEmpty();
      assertThat(ends).isEmpty();
    }
    assertThat(logged).as("refusals in the log").hasSize(whole && changed ? 1 : 0);
  }

  private static List<Byte> answers(EmbeddedChannel channel) {
    List<Byte> answers = new ArrayList<>();
    for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
      while (each.isReadable()) {
        answers.add(each.readByte());
      }
      each.release();
    }
    return answers;
  }

  private static ConnectionListener listener(List<String> ends) {
    return new ConnectionListener() {
      @Override
      public void finished(long lastCollective) {
        ends.add("finished after " + lastCollective);
      }

      @Override
      public void broken(Throwable cause) {
        ends.add(cause.getMessage());
      }
    };
  }
}
