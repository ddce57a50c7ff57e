package org.sparkcollectives.ddp;

import java.io.Serializable;
import java.util.List;

/**
 * The options of {@link BlockwiseInt8}; immutable. Each {@code with} method returns a changed copy.
 * All ranks give the same.
 */
public final class BlockwiseInt8Options implements Serializable {

  private static final long serialVersionUID = 1;

  private static final int SMALLEST_BLOCK = 16;

  private static final BlockwiseInt8Options DEFAULTS = new BlockwiseInt8Options(256, true, false);

  private final int blockSize;
  private final boolean errorFeedback;
  private final boolean always;

  private BlockwiseInt8Options(int blockSize, boolean errorFeedback, boolean always) {
    this.blockSize = blockSize;
    this.errorFeedback = errorFeedback;
    this.always = always;
  }

  /**
   * Returns the defaults: blocks of 256 elements, error feedback, compression only where it saves
   * more than a quarter of the time.
   */
  public static BlockwiseInt8Options defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with how many neighbouring elements share a scale, 16 to 1024. Smaller
   * blocks are closer, and send more: four bytes for each block.
   */
  public BlockwiseInt8Options withBlockSize(int elements) {
    if (elements < SMALLEST_BLOCK || elements > FloatElements.TILE) {
      throw new IllegalArgumentException(
          "A block has "
              + SMALLEST_BLOCK
              + " to "
              + FloatElements.TILE
              + " elements, not "
              + elements);
    }
    return new BlockwiseInt8Options(elements, errorFeedback, always);
  }

  /**
   * Returns these options with or without error feedback: whether each rank adds to its next
   * gradients what bytes left out of these. It takes four bytes of memory for each element.
   */
  public BlockwiseInt8Options withErrorFeedback(boolean value) {
    return new BlockwiseInt8Options(blockSize, value, always);
  }

  /**
   * Returns these options with or without compression of all buckets. Without it, the default, only
   * buckets are compressed for which that was measured to take less than three quarters of the time
   * of a plain mean. Measurements may differ from run to run: for results that repeat, compress
   * always.
   */
  public BlockwiseInt8Options withAlways(boolean value) {
    return new BlockwiseInt8Options(blockSize, errorFeedback, value);
  }

  /** Returns how many elements share a scale. */
  public int blockSize() {
    return blockSize;
  }

  /** Returns whether what was left out is added to the next gradients. */
  public boolean errorFeedback() {
    return errorFeedback;
  }

  /** Returns whether all buckets are compressed, whatever is faster. */
  public boolean always() {
    return always;
  }

  /** Returns a text for each option. */
  List<String> texts() {
    return List.of("blockSize " + blockSize, "errorFeedback " + errorFeedback, "always " + always);
  }

  @Override
  public String toString() {
    return texts().toString();
  }
}
