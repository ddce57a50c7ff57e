package org.sparkcollectives.internal.algorithm;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.HeapMemory;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Level;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.internal.transport.SharedSlots;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Rank 0 of a group of which nothing can be used: whatever an algorithm does first throws {@link
 * ChosenAlgorithm.Begun}.
 */
final class AskedPeers implements Peers {

  /** The memory of an operation's tensors. */
  enum Tensors {
    /** In memory that only this rank sees. */
    PRIVATE,
    /** In memory that all ranks of the host see. */
    SHARED
  }

  private final int size;
  private final Reach reach;
  private GroupMemory memory = GroupMemory.NONE;
  private Optional<Hierarchy> hierarchy = Optional.empty();
  private long bytes;

  private AskedPeers(int size, Reach reach) {
    this.size = size;
    this.reach = reach;
  }

  /** Ranks of which each is on a host of its own. */
  static AskedPeers overNetwork(int ranks) {
    return new AskedPeers(ranks, Reach.NETWORK);
  }

  /** Ranks of one host that reach each other by messages only. */
  static AskedPeers overRings(int ranks) {
    return new AskedPeers(ranks, Reach.HOST);
  }

  /** Ranks of one JVM. */
  static AskedPeers inHeap(int ranks) {
    AskedPeers peers = new AskedPeers(ranks, Reach.HOST);
    peers.memory = new HeapMemory(new Unseen());
    return peers;
  }

  /** Ranks of one host, each in a JVM of its own. */
  static AskedPeers inSharedMemory(int ranks, Tensors tensors) {
    AskedPeers peers = new AskedPeers(ranks, Reach.HOST);
    peers.memory = peers.new HostMemory(tensors, true);
    return peers;
  }

  /** Ranks of several JVMs, each on a host of its own. */
  static AskedPeers inJvms(Locality jvms) {
    return inJvms(jvms, Reach.NETWORK);
  }

  /** Ranks of several JVMs of one host. */
  static AskedPeers inJvmsOfAHost(Locality jvms, Tensors tensors) {
    AskedPeers peers = inJvms(jvms, Reach.HOST);
    peers.memory = peers.new HostMemory(tensors, false);
    return peers;
  }

  private static AskedPeers inJvms(Locality jvms, Reach reach) {
    AskedPeers peers = new AskedPeers(jvms.size(), reach);
    Locality hosts = Locality.of(Collections.nCopies(jvms.size(), "everywhere"));
    peers.hierarchy =
        Optional.of(Hierarchy.of(peers, jvms, new Unseen(), List.of(Level.hosts(hosts))));
    return peers;
  }

  /** Ranks of several hosts, each in a JVM of its own. */
  static AskedPeers onHosts(Locality hosts) {
    AskedPeers peers = new AskedPeers(hosts.size(), Reach.NETWORK);
    peers.hierarchy = Hierarchy.messages(peers, 0, List.of(Level.hosts(hosts)));
    return peers;
  }

  /** So many nodes of equal size. */
  static Locality nodes(int nodes, int ranks) {
    return Locality.of(IntStream.range(0, ranks).mapToObj(rank -> rank * nodes / ranks).toList());
  }

  /** Begins an operation of so many bytes on which all ranks agree; -1 if they do not know. */
  AskedPeers agreeingOn(long agreedBytes) {
    bytes = agreedBytes;
    return this;
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Reach reach() {
    return reach;
  }

  @Override
  public GroupMemory memory() {
    return memory;
  }

  @Override
  public Optional<Hierarchy> hierarchy() {
    return hierarchy;
  }

  @Override
  public void flush() {
    throw new ChosenAlgorithm.Begun();
  }

  @Override
  public Pair pair(int peer) {
    throw new ChosenAlgorithm.Begun();
  }

  /** The memory of a host whose ranks are in several JVMs. */
  private final class HostMemory implements GroupMemory {
    private final Tensors tensors;
    private final boolean stages;

    HostMemory(Tensors tensors, boolean stages) {
      this.tensors = tensors;
      this.stages = stages;
    }

    @Override
    public Access open(Supplier<List<HostTensor>> published) {
      if (bytes <= SharedSlots.MOST_BYTES) {
        return bytes < 0 ? Access.NONE : Access.SLOTS;
      }
      if (tensors == Tensors.SHARED) {
        return Access.SHARED_TENSORS;
      }
      return stages ? Access.STAGING : Access.NONE;
    }

    @Override
    public SharedSlots slots() {
      return new NoSlots();
    }

    @Override
    public SharedRegion region() {
      return new Unseen();
    }

    @Override
    public SharedStaging staging() {
      return new NoStaging();
    }
  }

  private record NoSlots() implements SharedSlots {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void publish(List<HostTensor> published) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public ByteBuffer of(int rank) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void awaitAll() {
      throw new ChosenAlgorithm.Begun();
    }
  }

  private record NoStaging() implements SharedStaging {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      return 2;
    }

    @Override
    public int chunkBytes() {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public int depth() {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public HostTensor buffer(int rank, long chunk, DType dtype) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void reached(Phase phase, long chunk) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void await(int rank, Phase phase, long chunk) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void finish(long chunks) {
      throw new ChosenAlgorithm.Begun();
    }
  }

  private record Unseen() implements SharedRegion {

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int size() {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public void publish(List<HostTensor> published) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public HostTensor publishedBy(int rank, int index, DType dtype, long count) {
      throw new ChosenAlgorithm.Begun();
    }

    @Override
    public boolean mayWriteTo(int peer, int index) {
      return false;
    }

    @Override
    public void publishProgress(long amount) {}

    @Override
    public long progressOf(int rank) {
      return 0;
    }

    @Override
    public void awaitProgress(int rank, long amount) {}

    @Override
    public void check() {}

    @Override
    public void finish() {}

    @Override
    public void leave() {}
  }
}
