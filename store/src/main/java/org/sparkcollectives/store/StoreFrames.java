package org.sparkcollectives.store;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import org.sparkcollectives.store.net.ConnectionId;

/**
 * What both sides of a TCP store agree on: each request and each reply is a frame with its length.
 */
final class StoreFrames {

  /** Room for the largest value and its key. */
  private static final int MAX_BYTES = Store.MAX_VALUE_BYTES + (1 << 20);

  /** The connection of a store's client. */
  static final ConnectionId CONNECTION = new ConnectionId("store", 0, 0, 0);

  private StoreFrames() {}

  static void addTo(ChannelPipeline pipeline) {
    pipeline.addLast(
        new LengthFieldBasedFrameDecoder(MAX_BYTES, 0, Integer.BYTES, 0, Integer.BYTES));
    pipeline.addLast(new LengthFieldPrepender(Integer.BYTES));
  }
}
