package org.sparkcollectives.reproducible;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The sums of some blocks as numbers of which each may be added up in any order. */
final class SumMessage {

  /** The most blocks of a message. */
  static final int BLOCKS = 256;

  private final SummedBlock[] blocks;
  private final byte[] tops;
  private final long[] high;
  private final long[] rest;
  private final TileReader tiles = new TileReader();
  private double[] others;
  private int first;
  private int end;

  /**
   * Creates an empty message for some of these blocks.
   *
   * @param tops the top bin of each element of all blocks
   */
  SumMessage(SummedBlock[] blocks, byte[] tops) {
    this.blocks = blocks;
    this.tops = tops;
    high = new long[Math.min(BLOCKS, blocks.length) * BinnedBlock.LENGTH];
    rest = new long[high.length];
  }

  /** Returns the top bins that the blocks have. */
  static byte[] tops(SummedBlock[] blocks) {
    byte[] tops = new byte[Arrays.stream(blocks).mapToInt(SummedBlock::length).sum()];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i].finite().copyBins(tops, i * BinnedBlock.LENGTH);
    }
    return tops;
  }

  /**
   * Takes the sums of blocks.
   *
   * @param withOthers whether NaNs and infinities are sent, which all ranks must do alike
   */
  void encode(int from, int to, boolean withOthers) {
    first = from;
    end = to;
    others = withOthers ? new double[elements()] : null;
    for (int i = from; i < to; i++) {
      blocks[i].finite().encode(tops, i * BinnedBlock.LENGTH, high, rest, place(i));
      if (withOthers && blocks[i].others() != null) {
        System.arraycopy(blocks[i].others(), 0, others, place(i), blocks[i].length());
      }
    }
  }

  /** Returns what is to be added up. */
  List<Tensor> tensors() {
    List<Tensor> tensors = new ArrayList<>();
    tensors.add(Tensor.of(high).slice(0, elements()));
    tensors.add(Tensor.of(rest).slice(0, elements()));
    if (others != null) {
      tensors.add(Tensor.of(others));
    }
    return tensors;
  }

  /** Writes what the message stands for to the blocks' places of a tensor. */
  void write(HostTensor result) {
    for (int i = first; i < end; i++) {
      int count = blocks[i].length();
      double[] sums = tiles.tile();
      BinnedBlock.decode(tops, i * BinnedBlock.LENGTH, high, rest, place(i), sums, count);
      for (int k = 0; others != null && k < count; k++) {
        double other = others[place(i) + k];
        if (other != 0) {
          sums[k] = Double.isNaN(other) ? Double.NaN : other;
        }
      }
      tiles.write(result, (long) i * BinnedBlock.LENGTH, count);
    }
  }

  private int place(int block) {
    return (block - first) * BinnedBlock.LENGTH;
  }

  private int elements() {
    return place(end - 1) + blocks[end - 1].length();
  }
}
