package org.sparkcollectives.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs once why a port cannot accept connections, and reports a lasting lack of file descriptors.
 * Netty retries each second.
 */
final class AcceptFailures extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(AcceptFailures.class);

  private final SocketAddress address;
  private final Consumer<DescriptorsExhaustedException> onShortage;
  private final DescriptorShortage shortage;
  private boolean logged;

  private AcceptFailures(
      SocketAddress address,
      Duration patience,
      Consumer<DescriptorsExhaustedException> onShortage) {
    this.address = address;
    this.shortage = new DescriptorShortage(patience);
    this.onShortage = onShortage;
  }

  /**
   * Adds what watches a port to its pipeline.
   *
   * @param patience how long accepting may lack file descriptors
   * @param onShortage hears of it, again at each attempt, when it lasts longer; on the event loop
   */
  static void addTo(
      ChannelPipeline pipeline,
      SocketAddress address,
      Duration patience,
      Consumer<DescriptorsExhaustedException> onShortage) {
    AcceptFailures failures = new AcceptFailures(address, patience, onShortage);
    // Netty's own handler is between the two: it takes what was accepted, and pauses for a second
    // after a failure.
    pipeline.addFirst(failures.successes());
    pipeline.addLast(failures);
  }

  private ChannelInboundHandlerAdapter successes() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext context, Object accepted) {
        shortage.succeeded();
        context.fireChannelRead(accepted);
      }
    };
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (logged) {
      LOG.debug("The port at {} still cannot accept connections", address, cause);
    } else {
      logged = true;
      LOG.warn(
          "The port at {} cannot accept connections: {}. It tries again each second; this is logged"
              + " once",
          address,
          DescriptorsExhaustedException.explain(cause).getMessage());
    }
    shortage.failed(cause).ifPresent(onShortage);
  }
}
