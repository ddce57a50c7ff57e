package org.sparkcollectives.transport.tcp;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The way to a peer that was offered memory: through that if the peer takes it, else over TCP.
 * Whoever wants it no more cancels it, at any moment: what there is then, or comes afterwards, is
 * closed.
 */
final class OfferedWay {

  private OfferedWay() {}

  /**
   * Decides for one of the two when the peer has answered.
   *
   * @param taken the peer's answer
   * @param memory the way through the memory, which is there in any case
   * @param overTcp begins to connect
   */
  static CompletableFuture<TcpPairs.Route> of(
      CompletableFuture<Boolean> taken,
      Supplier<TcpPairs.Route> memory,
      Supplier<CompletableFuture<TcpPairs.Route>> overTcp) {
    CompletableFuture<TcpPairs.Route> way = new CompletableFuture<>();
    taken.whenComplete(
        (isTaken, cause) -> {
          if (cause != null) {
            way.completeExceptionally(cause);
          } else if (isTaken) {
            completeOrClose(way, memory.get());
          } else if (!way.isDone()) {
            follow(way, overTcp.get());
          }
        });
    return way;
  }

  private static void follow(
      CompletableFuture<TcpPairs.Route> way, CompletableFuture<TcpPairs.Route> connecting) {
    connecting.whenComplete(
        (route, cause) -> {
          if (cause != null) {
            way.completeExceptionally(cause);
          } else {
            completeOrClose(way, route);
          }
        });
    way.whenComplete(
        (route, cause) -> {
          if (way.isCancelled()) {
            connecting.cancel(false);
          }
        });
  }

  private static void completeOrClose(CompletableFuture<TcpPairs.Route> way, TcpPairs.Route route) {
    if (!way.complete(route)) {
      route.channel().close();
      route.sink().close();
    }
  }
}
