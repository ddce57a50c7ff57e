package org.sparkcollectives.internal.transport.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.net.ClientHandshake;
import org.sparkcollectives.net.DescriptorShortage;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.HandshakeException;
import org.sparkcollectives.net.TransportSecurity;

/**
 * The attempts to connect to one peer, until one succeeds, the time is over, or nobody wants it.
 */
final class Connecting {

  private static final long FIRST_BACKOFF_MILLIS = 10;
  private static final long LAST_BACKOFF_MILLIS = 1000;

  private final Bootstrap bootstrap;
  private final Consumer<Channel> listener;
  private final TransportSecurity security;
  private final Duration timeout;
  private final Connector.Target target;
  private final Connector.Setup setup;
  private final DescriptorShortage shortage;
  private final long start = System.nanoTime();
  private final CompletableFuture<Channel> connected = new CompletableFuture<>();

  /**
   * Prepares the attempts.
   *
   * @param listener hears of each connection that is begun, on its event loop
   * @param shortage decides how long there may be no file descriptor for a socket
   */
  Connecting(
      Bootstrap bootstrap,
      Consumer<Channel> listener,
      TransportSecurity security,
      Duration timeout,
      DescriptorShortage shortage,
      Connector.Target target,
      Connector.Setup setup) {
    this.bootstrap = bootstrap;
    this.listener = listener;
    this.security = security;
    this.timeout = timeout;
    this.shortage = shortage;
    this.target = target;
    this.setup = setup;
  }

  CompletableFuture<Channel> begin() {
    attempt(FIRST_BACKOFF_MILLIS);
    return connected;
  }

  private void attempt(long backoffMillis) {
    if (connected.isDone()) {
      return;
    }
    CompletableFuture<Channel> ready = new CompletableFuture<>();
    ready.whenComplete((channel, cause) -> ended(channel, cause, backoffMillis));
    Duration left = timeout.minusNanos(System.nanoTime() - start);
    bootstrap
        .clone()
        .option(
            ChannelOption.CONNECT_TIMEOUT_MILLIS,
            (int) Math.max(1, Math.min(Integer.MAX_VALUE, left.toMillis())))
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                try {
                  listener.accept(channel);
                  endWithoutNeed(channel);
                  ClientHandshake.addTo(
                      channel.pipeline(), target.id(), target.secret(), security, left, ready);
                } catch (RuntimeException | LinkageError e) {
                  // No attempt can do better. Netty would report a closed channel, without a cause.
                  giveUp("", e);
                  throw e;
                }
              }
            })
        .connect(new InetSocketAddress(literal(target.peer().host()), target.peer().port()))
        .addListener(
            result -> {
              if (!result.isSuccess()) {
                ready.completeExceptionally(result.cause());
              }
            });
  }

  /** Closes a channel that nobody wants any more, also while the peer lets its handshake wait. */
  private void endWithoutNeed(Channel channel) {
    connected.whenComplete(
        (made, cause) -> {
          if (made != channel) {
            channel.close();
          }
        });
  }

  private static String literal(String host) {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private void ended(Channel channel, Throwable cause, long backoffMillis) {
    if (cause == null) {
      setup.setUp(channel.pipeline());
      connected.complete(channel);
      return;
    }
    boolean hopeless =
        (cause instanceof HandshakeException refusal && !refusal.isWorthARetry())
            || shortage.failed(cause).isPresent();
    long waited = System.nanoTime() - start;
    if (hopeless || waited > timeout.toNanos()) {
      giveUp(hopeless ? "" : " within " + timeout.toMillis() + " ms", cause);
      return;
    }
    // Jitter keeps many ranks that start at once from knocking in step.
    long delay = ThreadLocalRandom.current().nextLong(backoffMillis / 2, backoffMillis);
    bootstrap
        .config()
        .group()
        .schedule(
            () -> attempt(Math.min(LAST_BACKOFF_MILLIS, backoffMillis * 2)),
            delay,
            TimeUnit.MILLISECONDS);
  }

  private void giveUp(String time, Throwable thrown) {
    Throwable cause = DescriptorsExhaustedException.explain(thrown);
    String address = target.peer().host() + ":" + target.peer().port();
    String reason = cause instanceof Exception ? cause.getMessage() : null;
    connected.completeExceptionally(
        new TransportException(
            "rank "
                + target.id().from()
                + " cannot connect to rank "
                + target.id().to()
                + " at "
                + address
                + time
                + ": "
                + (reason == null ? cause : reason),
            target.id().to(),
            address,
            cause));
  }
}
