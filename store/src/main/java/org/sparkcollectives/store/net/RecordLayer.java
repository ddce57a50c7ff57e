package org.sparkcollectives.store.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;

/** Where AES-GCM sits in a pipeline: below all that comes after the handshake. */
final class RecordLayer {

  private RecordLayer() {}

  /** From here on encrypts what the server sends, and decrypts what it receives. */
  static void addToServer(ChannelHandlerContext handshake, Transcript transcript, byte[] secret) {
    add(handshake, transcript.keyToClient(secret), transcript.keyToServer(secret));
  }

  /** From here on encrypts what the client sends, and decrypts what it receives. */
  static void addToClient(ChannelHandlerContext handshake, Transcript transcript, byte[] secret) {
    add(handshake, transcript.keyToServer(secret), transcript.keyToClient(secret));
  }

  private static void add(ChannelHandlerContext handshake, byte[] outgoing, byte[] incoming) {
    RecordEncoder encoder =
        new RecordEncoder(RecordCipher.encrypting(outgoing, RecordCipher.RECORDS_PER_KEY));
    RecordDecoder decoder =
        new RecordDecoder(RecordCipher.decrypting(incoming, RecordCipher.RECORDS_PER_KEY), encoder);
    ChannelPipeline pipeline = handshake.pipeline();
    // Each goes before the one that was added last.
    pipeline.addAfter(handshake.name(), null, encoder);
    pipeline.addAfter(handshake.name(), null, decoder);
    pipeline.addAfter(handshake.name(), null, new FrameDecoder(RecordEncoder.MAX_RECORD_BYTES));
  }
}
