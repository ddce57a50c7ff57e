package org.sparkcollectives.transport.tcp;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.MessageMismatch;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.shm.SharedRing;

/**
 * A path to one peer over TCP: a connection of ours for what goes out, made at the first send, and
 * one of the peer's for what comes in.
 */
final class TcpPair implements Pair, Progress.Send {

  private final TcpPairs pairs;
  private final int peer;
  private final Progress progress;
  private final OutgoingMessage outgoing = new OutgoingMessage();
  private final IncomingMessage incoming = new IncomingMessage();

  private volatile CompletableFuture<TcpPairs.Route> connecting;
  private volatile ReturnPath returnPath;
  private ByteSink sink;
  private ByteSource wakesFor;
  private volatile ByteSource source;
  private volatile Channel sourceChannel;
  private volatile boolean closed;
  private volatile boolean freed;

  TcpPair(TcpPairs pairs, int peer, Progress progress) {
    this.pairs = pairs;
    this.peer = peer;
    this.progress = progress;
  }

  @Override
  public int peer() {
    return peer;
  }

  // What goes out.

  @Override
  public void send(HostTensor tensor) {
    if (!outgoing.isDone()) {
      progress.await(outgoing::isDone);
    }
    if (connecting == null) {
      ReturnPath path = new ReturnPath(pairs.listenerOf(peer));
      returnPath = path;
      connecting = pairs.connect(peer, path, progress::signal);
      connecting.whenComplete(
          (route, cause) -> {
            if (closed && route != null) {
              route.channel().close();
            }
            if (freed && route != null) {
              route.sink().close();
            }
            progress.signal();
          });
    }
    outgoing.begin(new MessageHeader(pairs.current(), tensor.dtype(), tensor.count()), tensor);
    progress.begin(this);
  }

  @Override
  public Progress.State advance() {
    if (sink == null) {
      if (!connecting.isDone()) {
        return Progress.State.WAITING;
      }
      sink = pairs.connected(connecting).sink();
      pairs.socketWait().register(sink);
    }
    boolean moved = outgoing.advance(sink);
    if (outgoing.isDone() && sink.drain()) {
      return Progress.State.DONE;
    }
    return moved ? Progress.State.MOVED : Progress.State.WAITING;
  }

  // What comes in.

  /** Wakes the thread that receives. */
  void signal() {
    progress.signal();
  }

  /** The peer shares memory, in which its messages come. Called on the connection's event loop. */
  void accepted(Channel channel, SharedRing ring) {
    if (!isOnly(channel)) {
      channel.close();
      ring.close();
      return;
    }
    takeFrom(channel, new RingSource(ring, pairs.socketWait().bell()));
  }

  /** The peer has connected. Called on the connection's event loop. */
  void accepted(Channel channel) {
    if (!isOnly(channel)) {
      channel.close();
      return;
    }
    if (channel instanceof DirectSocketChannel direct) {
      SocketSource accepted = new SocketSource(direct, pairs.listenerOf(peer));
      channel.pipeline().addLast(accepted);
      accepted.takeOver();
      takeFrom(channel, accepted);
    } else {
      NettySource accepted = new NettySource(channel, pairs.listenerOf(peer));
      channel.pipeline().addLast(accepted);
      takeFrom(channel, accepted);
    }
  }

  /**
   * Whether the connection is the first, which alone the peer's messages come over. A peer whose
   * connection breaks while it is accepted tries again; but by then this rank's thread may be
   * reading the first one, and will find that it is broken.
   */
  private synchronized boolean isOnly(Channel channel) {
    if (closed || sourceChannel != null) {
      return false;
    }
    sourceChannel = channel;
    return true;
  }

  private void takeFrom(Channel channel, ByteSource accepted) {
    source = accepted;
    // Whoever closes the pair meanwhile may have looked before these were there.
    if (closed) {
      channel.close();
    }
    if (freed) {
      closeSource();
    }
    progress.signal();
  }

  @Override
  public void receive(HostTensor tensor) {
    take(new MessageHeader(pairs.current(), tensor.dtype(), tensor.count()), tensor, null);
  }

  @Override
  public boolean hasMessage() {
    ByteSource from = source;
    return from != null && from.hasBytes();
  }

  @Override
  public void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel) {
    MessageHeader expected =
        new MessageHeader(pairs.current(), kernel.inputType(), accumulator.count());
    take(expected, accumulator, kernel);
  }

  private void take(MessageHeader expected, HostTensor target, ReduceKernel kernel) {
    incoming.begin(expected, target, kernel);
    try {
      progress.await(this::incomingEnded);
      if (incoming.isMismatch()) {
        throw mismatch(expected, incoming.received());
      }
    } finally {
      if (wakesFor != null) {
        wakesFor.want(false);
      }
      incoming.end();
    }
  }

  private void wakeFor(ByteSource from) {
    if (wakesFor == null) {
      wakesFor = from;
      pairs.socketWait().register(from);
    }
    from.want(true);
  }

  /** Reads what has come; whether the message is complete, or another than expected. */
  private boolean incomingEnded() {
    ByteSource from = source;
    if (from != null) {
      wakeFor(from);
    }
    while (from != null && !incoming.isComplete() && !incoming.isMismatch()) {
      if (!from.read(incoming)) {
        return false;
      }
      if (incoming.isEnded()) {
        ((SocketSource) from).finished(incoming.lastCollective());
        return false;
      }
    }
    return from != null;
  }

  private CollectiveMismatchException mismatch(MessageHeader expected, MessageHeader received) {
    OperationHeader theirs = received.operation();
    CollectiveMismatchException mismatch =
        MessageMismatch.between(
            peer,
            theirs,
            received.dtype(),
            received.count(),
            pairs.rank(),
            expected.operation(),
            expected.dtype(),
            expected.count());
    // Before the connection ends, so that its end is not taken for the cause, here or elsewhere:
    // also where messages come through memory, and the connection only tells of the end.
    pairs.refused(peer, mismatch);
    NettySource watching = sourceChannel.pipeline().get(NettySource.class);
    if (watching != null) {
      watching.close();
    }
    ReturnPath.refuse(sourceChannel, mismatch);
    return mismatch;
  }

  // The end.

  /** Closes both connections, once all that goes out has gone. */
  void close(long lastCollective) {
    Channel out = outgoingAtTheEnd();
    if (out != null) {
      out.writeAndFlush(Unpooled.wrappedBuffer(MessageHeader.end(lastCollective)))
          .addListener(ChannelFutureListener.CLOSE);
    }
    Channel in = incomingAtTheEnd();
    if (in != null) {
      ReturnPath.end(in, lastCollective);
    }
  }

  /** Closes both connections at once. */
  void breakOff() {
    Channel out = outgoingAtTheEnd();
    if (out != null) {
      out.close();
    }
    Channel in = incomingAtTheEnd();
    if (in != null) {
      in.close();
    }
  }

  private Channel outgoingAtTheEnd() {
    closed = true;
    ReturnPath path = returnPath;
    if (path != null) {
      path.close();
    }
    CompletableFuture<TcpPairs.Route> route = connecting;
    boolean none = route == null || route.cancel(false) || route.isCompletedExceptionally();
    return none ? null : route.join().channel();
  }

  private Channel incomingAtTheEnd() {
    return sourceChannel;
  }

  /** Frees the memory of both directions; when no thread can touch it any more. */
  void free() {
    freed = true;
    closeSource();
    if (connecting != null && connecting.isDone() && !connecting.isCompletedExceptionally()) {
      connecting.join().sink().close();
    }
  }

  private synchronized void closeSource() {
    if (source != null) {
      source.close();
      source = null;
    }
  }

  /** Whether no connection is left. */
  boolean isClosed() {
    CompletableFuture<TcpPairs.Route> route = connecting;
    boolean connected = route != null && route.isDone() && !route.isCompletedExceptionally();
    Channel in = sourceChannel;
    return (!connected || !route.join().channel().isOpen()) && (in == null || !in.isOpen());
  }
}
