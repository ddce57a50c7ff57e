package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.shm.RingSource;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A path to one peer in another JVM, over TCP or through shared memory: a connection of ours for
 * what goes out, made at the first send, and one of the peer's for what comes in.
 */
final class StreamPair implements Pair, Progress.Send {

  private final StreamPairs pairs;
  private final int peer;
  private final Progress progress;
  private OutgoingMessage outgoing = new OutgoingMessage();

  /** The message behind {@link #outgoing}. */
  private OutgoingMessage queued = new OutgoingMessage();

  private final IncomingMessage incoming = new IncomingMessage();
  private final PairConnection<ByteSink> out = new PairConnection<>();
  private final PairConnection<ByteSource> in = new PairConnection<>();

  /** The sink whose progress wakes the thread of an operation; null if it waits for none. */
  private ByteSink sink;

  private ByteSource wakesFor;

  StreamPair(StreamPairs pairs, int peer, Progress progress) {
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
      progress.await(() -> outgoing.isDone());
    }
    if (sink == null && out.begin()) {
      pairs.dial(peer, out);
    }
    begin(outgoing, tensor);
    progress.begin(this);
  }

  @Override
  public void queue(HostTensor tensor) {
    if (!queued.isDone()) {
      progress.await(() -> queued.isDone());
    }
    if (outgoing.isDone()) {
      send(tensor);
    } else {
      begin(queued, tensor);
    }
  }

  private void begin(OutgoingMessage message, HostTensor tensor) {
    message.begin(new MessageHeader(pairs.current(), tensor.dtype(), tensor.count()), tensor);
  }

  @Override
  public Progress.State advance() {
    if (sink == null) {
      sink = out.end();
      if (sink == null) {
        out.check();
        return Progress.State.WAITING;
      }
      pairs.socketWait().register(sink);
    }
    boolean moved = outgoing.advance(sink);
    if (outgoing.isDone() && !queued.isDone()) {
      OutgoingMessage sent = outgoing;
      outgoing = queued;
      queued = sent;
      moved |= outgoing.advance(sink);
    }
    if (outgoing.isDone() && sink.drain()) {
      return Progress.State.DONE;
    }
    return moved ? Progress.State.MOVED : Progress.State.WAITING;
  }

  @Override
  public void retract() {
    outgoing.abandon();
    queued.abandon();
  }

  // What comes in.

  /** Accepts a connection on which the peer offers memory. Called on its event loop. */
  void offered(Channel channel) {
    in.attempt(channel::close);
    if (channel.isOpen()) {
      channel
          .pipeline()
          .addLast(
              new RingOffer.Taker(
                  ring -> accepted(channel, ring), pairs.listenerOf(peer), pairs.logging()));
    }
  }

  /**
   * Accepts the memory in which the peer's messages come. Called on the connection's event loop.
   */
  void accepted(Channel channel, SharedRing ring) {
    opened(channel, new RingSource(ring, pairs.socketWait().bell()));
  }

  /** Accepts a connection over which the peer's messages come. Called on its event loop. */
  void accepted(DirectSocketChannel channel) {
    SocketSource accepted = new SocketSource(channel, pairs.listenerOf(peer));
    channel.pipeline().addLast(accepted);
    accepted.takeOver();
    opened(channel, accepted);
  }

  /**
   * Reads from the first connection only. A peer whose connection breaks while it is accepted tries
   * again; but by then this rank's thread may be reading the first one, and will find that it is
   * broken.
   */
  private void opened(Channel channel, ByteSource source) {
    in.opened(channel, source);
    progress.signal();
  }

  @Override
  public void receive(HostTensor tensor) {
    take(new MessageHeader(pairs.current(), tensor.dtype(), tensor.count()), tensor, null);
  }

  @Override
  public boolean hasMessage() {
    ByteSource from = in.end();
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

  /** Reads what has come; returns whether the message is complete, or another than expected. */
  private boolean incomingEnded() {
    ByteSource from = in.end();
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
    Channel channel = in.channel();
    ConnectionEnd watching = channel.pipeline().get(ConnectionEnd.class);
    if (watching != null) {
      watching.ignore();
    }
    ReturnPath.refuse(channel, mismatch);
    return mismatch;
  }

  // The end.

  /** Closes both connections, once all that goes out has gone. */
  void close(long lastCollective) {
    out.close(
        channel ->
            channel
                .writeAndFlush(Unpooled.wrappedBuffer(MessageHeader.end(lastCollective)))
                .addListener(ChannelFutureListener.CLOSE));
    in.close(channel -> ReturnPath.end(channel, lastCollective));
  }

  /** Closes both connections at once. */
  void breakOff() {
    out.close(Channel::close);
    in.close(Channel::close);
  }

  /** Frees the memory of both directions; when no thread can touch it any more. */
  void free() {
    in.free();
    out.free();
  }

  /** Returns whether no connection is left. */
  boolean isClosed() {
    return !out.isConnected() && !in.isConnected();
  }
}
