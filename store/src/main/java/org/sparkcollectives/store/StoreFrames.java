package org.sparkcollectives.store;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.stream.ChunkedWriteHandler;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.FrameDecoder;

/**
 * The framing that both sides of a TCP store share: each request and each reply is a frame with its
 * length. Messages are written as {@link MessageChunks}.
 */
final class StoreFrames {

  /** The connection id of a store's client. */
  static final ConnectionId CONNECTION = new ConnectionId("store", 0, 0, 0);

  private StoreFrames() {}

  static void addTo(ChannelPipeline pipeline) {
    pipeline.addLast(new FrameDecoder(StoreCodec.MAX_MESSAGE_BYTES));
    pipeline.addLast(new ChunkedWriteHandler());
  }
}
