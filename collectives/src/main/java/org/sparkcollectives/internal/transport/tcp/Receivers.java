package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.RefusalLog;
import org.sparkcollectives.net.ServerHandshake;

/**
 * The ranks of this JVM that take connections, and the connections that are early. Of these there
 * are as many at the most as of any that have not proven the secret.
 */
final class Receivers implements ServerHandshake.Gate {

  private record Key(String group, int rank) {}

  private record Entry(byte[] secret, TcpTransport.Receiver receiver) {}

  private final Map<Key, Entry> entries = new HashMap<>();
  private final Map<Key, List<CompletableFuture<byte[]>>> early = new HashMap<>();
  private final RefusalLog log;

  Receivers(String listener) {
    log = new RefusalLog(listener);
  }

  void register(String group, int rank, byte[] secret, TcpTransport.Receiver receiver) {
    Key key = new Key(group, rank);
    List<CompletableFuture<byte[]>> waiting;
    synchronized (this) {
      entries.put(key, new Entry(secret.clone(), receiver));
      waiting = early.remove(key);
    }
    if (waiting != null) {
      waiting.forEach(each -> each.complete(secret.clone()));
    }
  }

  synchronized void unregister(String group, int rank, TcpTransport.Receiver receiver) {
    Key key = new Key(group, rank);
    Entry entry = entries.get(key);
    if (entry != null && entry.receiver == receiver) {
      entries.remove(key);
    }
  }

  /** Tells all ranks that connections cannot be accepted, see {@link TcpTransport.Receiver}. */
  void cannotAccept(DescriptorsExhaustedException why) {
    List<Entry> all;
    synchronized (this) {
      all = List.copyOf(entries.values());
    }
    all.forEach(entry -> entry.receiver.cannotAccept(why));
  }

  @Override
  public CompletableFuture<byte[]> secretFor(ConnectionId id) {
    Key key = new Key(id.group(), id.to());
    CompletableFuture<byte[]> secret = new CompletableFuture<>();
    synchronized (this) {
      Entry entry = entries.get(key);
      if (entry != null) {
        secret.complete(entry.secret);
        return secret;
      }
      early.computeIfAbsent(key, absent -> new ArrayList<>()).add(secret);
    }
    secret.whenComplete((bytes, cause) -> noLongerEarly(key, secret));
    return secret;
  }

  @SuppressWarnings("CollectionUndefinedEquality") // This very future is meant.
  private synchronized void noLongerEarly(Key key, CompletableFuture<byte[]> secret) {
    List<CompletableFuture<byte[]>> waiting = early.get(key);
    if (waiting != null) {
      waiting.remove(secret);
      if (waiting.isEmpty()) {
        early.remove(key);
      }
    }
  }

  @Override
  public void accepted(ConnectionId id, ChannelPipeline pipeline) {
    Entry entry;
    synchronized (this) {
      entry = entries.get(new Key(id.group(), id.to()));
    }
    if (entry == null) {
      pipeline.channel().close();
    } else {
      entry.receiver.accepted(id, pipeline);
    }
  }

  @Override
  public void refused(String remoteAddress, String why) {
    log.refused(remoteAddress, why);
  }
}
