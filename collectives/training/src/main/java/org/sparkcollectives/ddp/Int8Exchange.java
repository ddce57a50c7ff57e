package org.sparkcollectives.ddp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Sums a bucket as bytes, step by step: each rank gets every rank's bytes of its own part, sums
 * them in float32, and sends the sum as bytes to all. Each number is rounded twice, however many
 * ranks there are. All ranks read the same bytes, and so get the same bits. Not thread-safe.
 *
 * <p>A part is a number of whole blocks, the same for each rank; the last ones may have fewer
 * elements, or none. The bytes of a part come first, then its scales.
 */
final class Int8Exchange {

  /** Arrays have a few elements less in some JVMs. */
  private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

  private final ProcessGroup group;
  private final int count;
  private final int block;
  private final int blocksOfPart;
  private final int bytesOfPart;
  private final Int8Blocks blocks;
  private final ByteBuffer sent;
  private final ByteBuffer received;
  private final Tensor toOwners;
  private final Tensor fromOthers;
  private final PersistentCollective toAll;

  /**
   * Creates the exchange of a group. No collective.
   *
   * @param count how many elements a bucket has, at least one
   * @throws IllegalStateException if the bytes do not fit into an array
   */
  Int8Exchange(ProcessGroup group, int count, int block) {
    this.group = group;
    this.count = count;
    this.block = block;
    int ranks = group.size();
    long all = (count + (long) block - 1) / block;
    this.blocksOfPart = (int) ((all + ranks - 1) / ranks);
    long bytes = blocksOfPart * (long) (block + Float.BYTES);
    if (bytes * ranks > LONGEST_ARRAY) {
      throw new IllegalStateException(tooLong(count));
    }
    this.bytesOfPart = (int) bytes;
    this.blocks = new Int8Blocks(block);
    byte[] own = new byte[bytesOfPart * ranks];
    byte[] others = new byte[bytesOfPart * ranks];
    this.sent = Int8Blocks.memory(own);
    this.received = Int8Blocks.memory(others);
    this.toOwners = Tensor.of(own);
    this.fromOthers = Tensor.of(others);
    this.toAll = group.allGatherInit(fromOthers, toOwners.slice(0, bytesOfPart));
  }

  /**
   * Returns a count as the length of an array.
   *
   * @throws IllegalStateException if it is too large
   */
  static int requireFit(long count) {
    if (count > LONGEST_ARRAY) {
      throw new IllegalStateException(tooLong(count));
    }
    return (int) count;
  }

  private static String tooLong(long count) {
    return "A bucket has "
        + count
        + " elements, too many to send them as int8 from one array: make buckets smaller";
  }

  /** Ends its use of the group. */
  void close() {
    toAll.close();
  }

  /** Returns whether it is among the ranks of a group. */
  boolean isOf(ProcessGroup other) {
    return group.equals(other);
  }

  /** Returns how many bytes there are for the bucket, scales included. */
  long bytes() {
    return (long) bytesOfPart * group.size();
  }

  /**
   * Writes a bucket as bytes.
   *
   * @param errors what was left out before, which is added, and becomes what is left out now; null
   *     without error feedback
   * @param scale what the errors are multiplied by
   */
  void quantize(HostTensor buffer, float[] errors, float scale) {
    float[] tile = FloatElements.borrowTile();
    float[] left = FloatElements.borrowTile();
    for (int part = 0; part < group.size(); part++) {
      for (int at = 0, n = length(part, at); n > 0; at += n, n = length(part, at)) {
        int from = begin(part) + at;
        FloatElements.read(buffer, from, n, tile, 0);
        if (errors != null) {
          System.arraycopy(errors, from, left, 0, n);
          for (int i = 0; i < n; i++) {
            tile[i] += left[i] * scale;
          }
        }
        blocks.encode(tile, n, left, place(sent, part, at));
        if (errors != null) {
          System.arraycopy(left, 0, errors, from, n);
        }
      }
    }
    FloatElements.giveBackTile(left);
    FloatElements.giveBackTile(tile);
  }

  /** Sends each part to its owner; blocks for the group's timeout at most. */
  void sendToOwners() {
    group.allToAll(fromOthers, toOwners).await();
  }

  /**
   * Sums what all ranks have sent of this rank's part, and writes the sum as bytes.
   *
   * @param errors to which is added what these bytes leave out of the sum: this rank gives it to
   *     the next sum, for all; null without error feedback
   */
  void sum(float[] errors) {
    float[] tile = FloatElements.borrowTile();
    float[] left = FloatElements.borrowTile();
    int own = group.rank();
    for (int at = 0, n = length(own, at); n > 0; at += n, n = length(own, at)) {
      Arrays.fill(tile, 0, n, 0);
      for (int rank = 0; rank < group.size(); rank++) {
        blocks.addTo(tile, n, place(received, rank, at));
      }
      blocks.encode(tile, n, left, place(sent, 0, at));
      if (errors != null) {
        int from = begin(own) + at;
        System.arraycopy(errors, from, tile, 0, n);
        for (int i = 0; i < n; i++) {
          tile[i] += left[i];
        }
        System.arraycopy(tile, 0, errors, from, n);
      }
    }
    FloatElements.giveBackTile(left);
    FloatElements.giveBackTile(tile);
  }

  /** Begins to send the sum of this rank's part to all; does not block. */
  Work sendToAll() {
    return toAll.start();
  }

  /** Writes the sums of all parts into a bucket, divided. */
  void dequantize(HostTensor buffer, double divisor) {
    float[] tile = FloatElements.borrowTile();
    for (int part = 0; part < group.size(); part++) {
      for (int at = 0, n = length(part, at); n > 0; at += n, n = length(part, at)) {
        blocks.decode(tile, n, divisor, place(received, part, at));
        FloatElements.write(tile, 0, buffer, begin(part) + at, n);
      }
    }
    FloatElements.giveBackTile(tile);
  }

  private int begin(int part) {
    return (int) Math.min(count, (long) part * blocksOfPart * block);
  }

  /** Returns the length of the tile of a part that begins at an element of it. */
  private int length(int part, int at) {
    return Math.min(blocks.tile(), begin(part + 1) - begin(part) - at);
  }

  private Int8Blocks.Place place(ByteBuffer bytes, int part, int at) {
    int begin = part * bytesOfPart;
    return new Int8Blocks.Place(
        bytes, begin + at, begin + blocksOfPart * block + at / block * Float.BYTES);
  }
}
