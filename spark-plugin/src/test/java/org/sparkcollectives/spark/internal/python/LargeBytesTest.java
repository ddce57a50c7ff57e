package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.Store;

/** Byte strings that are too large for a frame, in pieces of 10 bytes. */
class LargeBytesTest {

  private final LargeBytes apart = new LargeBytes(10);
  private final Reply reply = new Reply();

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = (byte) (size + i);
    }
    return bytes;
  }

  private void bring(int index, byte[] value) {
    for (int at = 0; at < value.length; at += 10) {
      int length = Math.min(10, value.length - at);
      apart.take(index, at == 0, value.length, ByteBuffer.wrap(value, at, length));
    }
  }

  private ByteBuffer sent() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    reply.sendTo(out);
    return ByteBuffer.wrap(out.toByteArray()).order(ByteOrder.LITTLE_ENDIAN).position(5);
  }

  @Test
  void whatIsBroughtInPiecesIsGivenWholeAndInOrder() {
    bring(0, bytes(25));
    bring(1, bytes(10));
    assertThat(apart.next()).isEqualTo(bytes(25));
    assertThat(apart.next()).isEqualTo(bytes(10));
    assertThatThrownBy(apart::next).hasMessageContaining("was not brought");
  }

  @Test
  void whatWasBroughtForARequestThatNeverCameIsNotTakenForAnother() {
    bring(0, bytes(25));
    bring(1, bytes(26));
    apart.take(2, true, 27, ByteBuffer.allocate(10));
    bring(0, bytes(11));
    assertThat(apart.next()).isEqualTo(bytes(11));
    assertThatThrownBy(apart::next).hasMessageContaining("was not brought");
  }

  @Test
  void aValueThatNoStoreTakesIsRefusedBeforeMemoryIsTakenForIt() {
    for (long size : new long[] {Store.MAX_VALUE_BYTES + 1L, 8L << 30, -1}) {
      assertThatThrownBy(() -> apart.take(0, true, size, ByteBuffer.allocate(10)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("A value of " + size + " bytes")
          .hasMessageContaining(Store.MAX_VALUE_BYTES + " bytes; store it in parts");
    }
  }

  @Test
  void piecesThatDoNotBelongTogetherAreRefused() {
    ByteBuffer piece = ByteBuffer.allocate(10);
    assertThatThrownBy(() -> apart.take(0, false, 20, piece)).hasMessageContaining("10 bytes came");
    apart.take(0, true, 15, piece.duplicate());
    assertThatThrownBy(() -> apart.take(0, false, 15, piece)).hasMessageContaining("where 5");
    apart.take(0, true, 15, piece.duplicate());
    assertThatThrownBy(() -> apart.take(0, false, 14, piece.slice(0, 5)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(apart::next).hasMessageContaining("was not brought");
  }

  @Test
  void aReplyHasTheSmallOnesAndTheLargeOnesFollowInPieces() throws IOException {
    apart.beginReply();
    reply.begin(Reply.DONE);
    apart.put(bytes(3), reply); // Behind the length of the frame and the status.
    apart.put(bytes(25), reply);
    apart.put(bytes(0), reply);
    apart.put(bytes(11), reply);
    ByteBuffer sent = sent();
    assertThat(sent.getInt()).isEqualTo(3);
    sent.position(sent.position() + 3);
    assertThat(sent.getInt()).isEqualTo(LargeBytes.APART);
    assertThat(sent.getInt()).isEqualTo(25);
    assertThat(sent.getInt()).isZero();
    assertThat(sent.getInt()).isEqualTo(LargeBytes.APART);
    assertThat(sent.getInt()).isEqualTo(11);
    assertThat(fetched(25)).isEqualTo(bytes(25));
    assertThat(fetched(11)).isEqualTo(bytes(11));
    assertThatThrownBy(() -> apart.give(reply)).hasMessageContaining("no value");
  }

  private byte[] fetched(int size) throws IOException {
    ByteBuffer whole = ByteBuffer.allocate(size);
    while (whole.hasRemaining()) {
      apart.give(reply);
      ByteBuffer sent = sent();
      assertThat(sent.getInt()).isEqualTo(sent.remaining()).isBetween(1, 10);
      whole.put(sent);
    }
    return whole.array();
  }

  @Test
  void whatNobodyFetchesGoesWithTheNextReply() {
    apart.put(bytes(25), reply.begin(Reply.DONE));
    apart.beginReply();
    assertThatThrownBy(() -> apart.give(reply)).hasMessageContaining("no value");
  }
}
