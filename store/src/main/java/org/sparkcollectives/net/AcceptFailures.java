package org.sparkcollectives.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.SocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs once why a port cannot accept connections, for example because the process has no file
 * descriptor left. Netty retries each second.
 */
final class AcceptFailures extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(AcceptFailures.class);

  private final SocketAddress address;
  private boolean logged;

  AcceptFailures(SocketAddress address) {
    this.address = address;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (logged) {
      LOG.debug("The port at {} still cannot accept connections", address, cause);
      return;
    }
    logged = true;
    LOG.warn(
        "The port at {} cannot accept connections: {}. It tries again each second; this is logged"
            + " once. If there are too many open files, raise the limit (ulimit -n)",
        address,
        String.valueOf(cause));
  }
}
