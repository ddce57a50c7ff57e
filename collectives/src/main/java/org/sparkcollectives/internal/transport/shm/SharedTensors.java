package org.sparkcollectives.internal.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.spi.tensor.DirectTensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The tensors that a rank has allocated in memory that its neighbours can see, and those of the
 * neighbours that it has seen. Thread-safe.
 */
public final class SharedTensors implements AutoCloseable {

  private final SharedFolder folder;
  private final IdentityHashMap<ByteBuffer, SharedFile> own = new IdentityHashMap<>();

  /**
   * The neighbours' files, by their proofs: a neighbour may reuse the number of a file that it has
   * closed.
   */
  private final Map<ByteBuffer, SharedFile> neighbours = new HashMap<>();

  /** True if a neighbour has published new memory since {@link #releaseClosed}. */
  private boolean grown;

  private final Set<SharedFileMemory> memories = new HashSet<>();
  private SharedFile publishable;
  private ByteBuffer publishableMemory;

  /** Creates an empty set, whose memory is made in the folder. */
  public SharedTensors(SharedFolder folder) {
    this.folder = folder;
  }

  /** Returns the folder in which memory is made. */
  SharedFolder folder() {
    return folder;
  }

  /**
   * Returns a tensor of zeros.
   *
   * @throws IOException if there is no room, or it would be larger than a buffer can be
   */
  public synchronized HostTensor allocate(DType dtype, long count) throws IOException {
    long bytes = Math.multiplyExact(count, dtype.bytes());
    if (bytes > Integer.MAX_VALUE - SharedFile.NONCE_BYTES) {
      throw new IOException(bytes + " bytes are more than a buffer can hold");
    }
    SharedFile file = SharedFile.create(folder.path(), (int) bytes);
    ByteBuffer memory = file.memory();
    own.put(memory, file);
    return DirectTensor.within(dtype, memory, file.lease(), 0, (int) count);
  }

  /**
   * Returns zeros that other processes can map, for tensors that the neighbours can see.
   *
   * @throws IOException if there is no room, or it would be larger than a buffer can be
   */
  public synchronized SharedMemory allocateShared(long bytes) throws IOException {
    SharedFileMemory shared = SharedFileMemory.create(folder.path(), bytes, this::forget);
    own.put(shared.memory(), shared.file());
    memories.add(shared);
    return shared;
  }

  private synchronized void forget(SharedFileMemory shared) {
    own.remove(shared.memory());
    memories.remove(shared);
  }

  /**
   * Returns memory that the neighbours can see, the same each time; if there is none, some that
   * they cannot.
   */
  synchronized HostTensor publishable(DType dtype, long count) {
    int bytes = Math.toIntExact(count * dtype.bytes());
    if (publishable == null || publishable.bytes() < bytes) {
      try {
        publishable = SharedFile.create(folder.path(), bytes);
        publishableMemory = publishable.memory();
        own.put(publishableMemory, publishable);
      } catch (IOException | UnsupportedOperationException e) {
        return HostTensor.allocate(dtype, count);
      }
    }
    return DirectTensor.within(dtype, publishableMemory, publishable.lease(), 0, (int) count);
  }

  /** Returns what a neighbour needs to see {@code tensors}; null if one of them cannot be seen. */
  synchronized List<DescriptorTable.Descriptor> describe(List<HostTensor> tensors) {
    if (tensors.size() > DescriptorTable.MOST_TENSORS) {
      return null;
    }
    List<DescriptorTable.Descriptor> descriptors = new ArrayList<>(tensors.size());
    for (HostTensor each : tensors) {
      SharedFile file = each instanceof DirectTensor direct ? own.get(direct.wrapped()) : null;
      if (file == null) {
        return null;
      }
      int offset = ((DirectTensor) each).wrappedOffset();
      descriptors.add(
          new DescriptorTable.Descriptor(
              file.key(),
              file.nonce(),
              file.bytes(),
              offset,
              each.count(),
              each.dtype(),
              file.isScratch()));
    }
    return descriptors;
  }

  /** Returns the tensor that a neighbour has described. */
  synchronized HostTensor see(DescriptorTable.Descriptor of) {
    SharedFile file = neighbours.computeIfAbsent(ByteBuffer.wrap(of.nonce()), key -> open(of));
    return DirectTensor.within(
        of.dtype(), file.memory(), file.lease(), of.offset(), (int) of.count());
  }

  /**
   * Unmaps what the neighbours have closed, if they have published new memory since this was last
   * called: who allocates again and again in one group would otherwise have all of it mapped, and
   * its pages used, until the group ends. Called between two operations.
   */
  synchronized void releaseClosed() {
    if (grown) {
      grown = false;
      neighbours.values().removeIf(SharedTensors::closedIfGone);
    }
  }

  private static boolean closedIfGone(SharedFile file) {
    boolean gone = !file.isOpenAtItsOwner();
    if (gone) {
      file.close();
    }
    return gone;
  }

  private SharedFile open(DescriptorTable.Descriptor of) {
    grown = true;
    try {
      SharedFile file = SharedFile.open(of.key(), of.nonce(), of.fileBytes());
      file.keep();
      return file;
    } catch (IOException e) {
      throw new TransportException(
          "Memory that a rank of this host publishes cannot be seen: " + e.getMessage(), e);
    }
  }

  /**
   * Unmaps what this rank has allocated, as soon as no thread reads or writes it: tensors in it are
   * refused from then on.
   */
  @Override
  public void close() {
    List<SharedFileMemory> left;
    List<SharedFile> files;
    synchronized (this) {
      left = List.copyOf(memories);
      memories.clear();
      files = List.copyOf(own.values());
      own.clear();
      publishable = null;
    }
    left.forEach(SharedFileMemory::close);
    files.forEach(SharedFile::close);
  }

  /** Unmaps what the neighbours have published; when no thread can touch it any more. */
  synchronized void freeNeighbours() {
    neighbours.values().forEach(SharedFile::close);
    neighbours.clear();
  }
}
