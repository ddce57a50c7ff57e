package org.sparkcollectives.internal.kernel;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.ArrayType;
import org.sparkcollectives.spi.tensor.HalfFormat;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TilePool;

/**
 * A sum or product of 16-bit floating-point numbers in float32 accumulators, rounded once at the
 * end.
 */
final class HalfKernel implements ReduceKernel {

  private static final int TILE = TilePool.LENGTH;

  private final HalfFormat format;
  private final ReduceOp op;
  private final ArrayReduction<float[]> reduction;

  HalfKernel(HalfFormat format, ReduceOp op) {
    this.format = format;
    this.op = op;
    this.reduction = FloatLoops.reduction(op.kind());
  }

  @Override
  public ReduceOp op() {
    return op;
  }

  @Override
  public DType inputType() {
    return format.dtype();
  }

  @Override
  public DType accumulatorType() {
    return DType.FLOAT32;
  }

  @Override
  public void premultiply(HostTensor input, long offset, long count) {
    KernelChecks.checkTensor("input", input, inputType(), offset, count);
    if (!premultiplies()) {
      return;
    }
    Tiles tiles = Tiles.borrow();
    for (long done = 0; done < count; done += TILE) {
      int n = (int) Math.min(TILE, count - done);
      input.toArray(offset + done, n, tiles.halves, 0);
      format.widen(tiles.halves, tiles.addend, 0, n);
      FloatLoops.multiply(tiles.addend, 0, n, op.factor());
      format.narrow(tiles.addend, 0, tiles.halves, n);
      input.fromArray(offset + done, n, tiles.halves, 0);
    }
    tiles.giveBack();
  }

  @Override
  public void load(
      HostTensor accumulator, long offset, HostTensor input, long inputOffset, long count) {
    KernelChecks.checkTensor("accumulator", accumulator, DType.FLOAT32, offset, count);
    KernelChecks.checkTensor("input", input, inputType(), inputOffset, count);
    Tiles tiles = Tiles.borrow();
    for (long done = 0; done < count; done += TILE) {
      int n = (int) Math.min(TILE, count - done);
      input.toArray(inputOffset + done, n, tiles.halves, 0);
      format.widen(tiles.halves, tiles.sum, 0, n);
      accumulator.fromArray(offset + done, n, tiles.sum, 0);
    }
    tiles.giveBack();
  }

  @Override
  public void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source) {
    KernelChecks.checkTensor("accumulator", accumulator, DType.FLOAT32, offset, count);
    KernelChecks.checkSource(source, inputType(), count);
    Buffer view = ArrayType.SHORT.view(source);
    Tiles tiles = Tiles.borrow();
    for (int done = 0; done < count; done += TILE) {
      int n = Math.min(TILE, count - done);
      ArrayType.SHORT.get(view, done, tiles.halves, 0, n);
      reduceTile(accumulator, offset + done, n, tiles);
    }
    tiles.giveBack();
    source.position(source.position() + count * inputType().bytes());
  }

  @Override
  public void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count) {
    KernelChecks.checkTensor("accumulator", accumulator, DType.FLOAT32, offset, count);
    KernelChecks.checkTensor("source", source, inputType(), sourceOffset, count);
    Tiles tiles = Tiles.borrow();
    for (long done = 0; done < count; done += TILE) {
      int n = (int) Math.min(TILE, count - done);
      source.toArray(sourceOffset + done, n, tiles.halves, 0);
      reduceTile(accumulator, offset + done, n, tiles);
    }
    tiles.giveBack();
  }

  private void reduceTile(HostTensor accumulator, long offset, int n, Tiles tiles) {
    format.widen(tiles.halves, tiles.addend, 0, n);
    accumulator.toArray(offset, n, tiles.sum, 0);
    reduction.reduce(tiles.sum, tiles.addend, 0, n);
    accumulator.fromArray(offset, n, tiles.sum, 0);
  }

  @Override
  public void finish(
      HostTensor result,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int contributions) {
    KernelChecks.checkTensor("result", result, inputType(), offset, count);
    KernelChecks.checkTensor("accumulator", accumulator, DType.FLOAT32, accumulatorOffset, count);
    KernelChecks.checkContributions(contributions);
    Tiles tiles = Tiles.borrow();
    for (long done = 0; done < count; done += TILE) {
      int n = (int) Math.min(TILE, count - done);
      accumulator.toArray(accumulatorOffset + done, n, tiles.sum, 0);
      if (op.kind() == ReduceOp.Kind.AVG) {
        FloatLoops.divide(tiles.sum, 0, n, contributions);
      }
      format.narrow(tiles.sum, 0, tiles.halves, n);
      result.fromArray(offset + done, n, tiles.halves, 0);
    }
    tiles.giveBack();
  }

  private record Tiles(short[] halves, float[] addend, float[] sum) {

    static Tiles borrow() {
      return new Tiles(
          (short[]) TilePool.borrow(ArrayType.SHORT),
          (float[]) TilePool.borrow(ArrayType.FLOAT),
          (float[]) TilePool.borrow(ArrayType.FLOAT));
    }

    void giveBack() {
      TilePool.giveBack(ArrayType.SHORT, halves);
      TilePool.giveBack(ArrayType.FLOAT, addend);
      TilePool.giveBack(ArrayType.FLOAT, sum);
    }
  }
}
