package org.sparkcollectives.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.MessageMismatch;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Memory that ranks of one host see, as one of them sees it: tensors that the group has allocated
 * are reduced where they lie, without a copy.
 *
 * <p>Whether all ranks work on such tensors is asked for each operation that is large enough to be
 * worth the question, on a board that rank 0 makes at the first of them. After a failure other
 * ranks may still write to what this one has shown: its contents are undefined then.
 */
public final class ShmRegion implements SharedRegion, PolledMemory {

  /** Smaller operations take less time than the question. */
  static final long SMALLEST_BYTES = 32 * 1024;

  private static final int KEY_BYTES = SharedFile.NONCE_BYTES + 2 * Integer.BYTES;
  private static final Logger LOG = LoggerFactory.getLogger(ShmRegion.class);

  private final Path folder;
  private final SharedTensors tensors;
  private final int rank;
  private final int size;
  private final Progress progress;
  private SharedBoard board;
  private boolean asked;
  private boolean waiting;
  private long operation;
  private OperationHeader current;

  /**
   * The region of a rank whose group is on one host.
   *
   * @param progress where this rank waits, shared with its other paths
   */
  public ShmRegion(Path folder, SharedTensors tensors, int rank, int size, Progress progress) {
    this.folder = folder;
    this.tensors = tensors;
    this.rank = rank;
    this.size = size;
    this.progress = progress;
  }

  /** This region, if all ranks show tensors in it for this operation; else null. */
  public SharedRegion regionFor(Peers peers, OperationHeader header, List<HostTensor> shown) {
    if (size == 1 || header.count() * header.dtype().bytes() < SMALLEST_BYTES) {
      return null;
    }
    if (!asked) {
      asked = true;
      board = makeBoard(peers);
    }
    if (board == null) {
      return null;
    }
    current = header;
    operation++;
    // Of the text, because the hash codes of enumerations differ from process to process.
    long digest = header.toString().hashCode();
    board.show(operation, digest, tensors.describe(shown));
    await(() -> board.allShow(operation) || stranger(peers) >= 0);
    if (!board.allShow(operation)) {
      // Before all have shown, nobody sends anything in this operation: that rank is in another.
      peers.pair(stranger(peers)).receive(HostTensor.allocate(DType.UINT8, 0));
    }
    if (board.isShared(operation, digest)) {
      return this;
    }
    board.done(operation);
    return null;
  }

  /** A rank that has sent something; -1 if none has. */
  private int stranger(Peers peers) {
    for (int peer = 0; peer < size; peer++) {
      if (peer != rank && peers.pair(peer).hasMessage()) {
        return peer;
      }
    }
    return -1;
  }

  private void await(BooleanSupplier condition) {
    waiting = true;
    try {
      progress.await(condition);
    } finally {
      waiting = false;
    }
  }

  @Override
  public boolean isAwaited() {
    return waiting;
  }

  /** Rank 0 makes the board and asks whether all can see it; null if not. */
  private SharedBoard makeBoard(Peers peers) {
    byte[] key = new byte[KEY_BYTES];
    byte[] seen = {1};
    SharedFile file = null;
    if (rank == 0) {
      file = create(key);
      seen[0] = (byte) (file == null ? 0 : 1);
      for (int peer = 1; peer < size; peer++) {
        peers.pair(peer).send(HostTensor.wrap(DType.UINT8, key));
      }
      for (int peer = 1; peer < size; peer++) {
        byte[] answer = new byte[1];
        peers.pair(peer).receive(HostTensor.wrap(DType.UINT8, answer));
        seen[0] &= answer[0];
      }
      for (int peer = 1; peer < size; peer++) {
        peers.pair(peer).send(HostTensor.wrap(DType.UINT8, seen));
      }
    } else {
      peers.pair(0).receive(HostTensor.wrap(DType.UINT8, key));
      file = open(key);
      byte[] answer = {(byte) (file == null ? 0 : 1)};
      peers.pair(0).send(HostTensor.wrap(DType.UINT8, answer));
      peers.pair(0).receive(HostTensor.wrap(DType.UINT8, seen));
    }
    peers.flush();
    if (file != null) {
      file.keep();
      if (seen[0] == 0) {
        file.close();
      }
    }
    return seen[0] == 0 ? null : new SharedBoard(file, rank, size);
  }

  private SharedFile create(byte[] key) {
    try {
      SharedFile file = SharedFile.create(folder, SharedBoard.bytes(size));
      ByteBuffer.wrap(key)
          .put(file.nonce())
          .putInt(file.key().process())
          .putInt(file.key().descriptor());
      return file;
    } catch (IOException | UnsupportedOperationException e) {
      LOG.info("No shared memory in {}: tensors are copied between processes: {}", folder, e);
      return null;
    }
  }

  private SharedFile open(byte[] key) {
    ByteBuffer in = ByteBuffer.wrap(key);
    byte[] nonce = new byte[SharedFile.NONCE_BYTES];
    in.get(nonce);
    try {
      return SharedFile.open(
          new SharedFile.Key(in.getInt(), in.getInt()), nonce, SharedBoard.bytes(size));
    } catch (IOException e) {
      LOG.info("Memory of rank 0 is not here: tensors are copied: {}", e.toString());
      return null;
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void show(List<HostTensor> shown) {
    // They were shown when the region was asked for.
    progress.check();
  }

  @Override
  public HostTensor shownBy(int peer, int index, DType dtype, long count) {
    SharedBoard.Shown shown = board.shownBy(peer, operation, index);
    if (shown == null || shown.dtype() != dtype || shown.count() != count) {
      throw new CollectiveMismatchException(
          "rank "
              + peer
              + " is in "
              + current
              + " with "
              + (shown == null ? "no such tensor" : shown.dtype().label() + " x " + shown.count())
              + ", but rank "
              + rank
              + " expects "
              + dtype.label()
              + " x "
              + count
              + ". "
              + MessageMismatch.ADVICE);
    }
    return tensors.see(shown);
  }

  @Override
  public void check() {
    progress.check();
  }

  @Override
  public void finish() {
    leave();
    await(() -> board.allDone(operation));
  }

  @Override
  public void leave() {
    board.done(operation);
  }

  /** Unmaps the board; when no thread can touch it any more. */
  public void free() {
    if (board != null) {
      board.close();
    }
  }
}
