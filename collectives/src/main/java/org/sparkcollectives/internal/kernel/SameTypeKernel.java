package org.sparkcollectives.internal.kernel;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.ArrayType;
import org.sparkcollectives.spi.tensor.HeapTensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TilePool;

/**
 * A reduction whose accumulator has the type of its input. Two heap tensors that begin at the same
 * index of their arrays are reduced in place; all others go through tiles.
 */
final class SameTypeKernel<A> implements ReduceKernel {

  private final DType dtype;
  private final ArrayType type;
  private final Class<A> arrayClass;
  private final int slots;
  private final int tileElements;
  private final ArrayReduction<A> reduction;
  private final ReduceOp op;
  private final ArrayScaling<A> premultiplication;
  private final ArrayScaling<A> finishing;

  /**
   * Creates a kernel.
   *
   * @param arrayClass the class of {@link ArrayType#of(DType)}
   * @param op whose factor {@code premultiplication} gets
   * @param premultiplication null if there is none
   * @param finishing what is done to the result, given the number of contributions; null if nothing
   */
  SameTypeKernel(
      DType dtype,
      Class<A> arrayClass,
      ArrayReduction<A> reduction,
      ReduceOp op,
      ArrayScaling<A> premultiplication,
      ArrayScaling<A> finishing) {
    this.dtype = dtype;
    this.type = ArrayType.of(dtype);
    this.arrayClass = arrayClass;
    this.slots = ArrayType.slots(dtype);
    this.tileElements = TilePool.LENGTH / slots;
    this.reduction = reduction;
    this.op = op;
    this.premultiplication = premultiplication;
    this.finishing = finishing;
  }

  @Override
  public ReduceOp op() {
    return op;
  }

  @Override
  public DType inputType() {
    return dtype;
  }

  @Override
  public DType accumulatorType() {
    return dtype;
  }

  @Override
  public void premultiply(HostTensor input, long offset, long count) {
    KernelChecks.checkTensor("input", input, dtype, offset, count);
    if (premultiplication != null) {
      scale(input, offset, count, premultiplication, op.factor());
    }
  }

  @Override
  public void load(
      HostTensor accumulator, long offset, HostTensor input, long inputOffset, long count) {
    KernelChecks.checkTensor("accumulator", accumulator, dtype, offset, count);
    KernelChecks.checkTensor("input", input, dtype, inputOffset, count);
    accumulator.copyFrom(offset, input, inputOffset, count);
  }

  @Override
  public void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source) {
    KernelChecks.checkTensor("accumulator", accumulator, dtype, offset, count);
    KernelChecks.checkSource(source, dtype, count);
    Buffer view = type.view(source);
    A sum = borrowTile();
    A addend = borrowTile();
    for (int done = 0; done < count; done += tileElements) {
      int n = Math.min(tileElements, count - done);
      type.get(view, done * slots, addend, 0, n * slots);
      reduceTile(accumulator, offset + done, n, sum, addend);
    }
    giveBack(sum, addend);
    source.position(source.position() + count * dtype.bytes());
  }

  @Override
  public void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count) {
    KernelChecks.checkTensor("accumulator", accumulator, dtype, offset, count);
    KernelChecks.checkTensor("source", source, dtype, sourceOffset, count);
    if (accumulator instanceof HeapTensor a
        && source instanceof HeapTensor b
        && a.arrayIndex(offset) == b.arrayIndex(sourceOffset)
        && arrayClass.isInstance(a.array())
        && arrayClass.isInstance(b.array())) {
      reduction.reduce(
          arrayClass.cast(a.array()),
          arrayClass.cast(b.array()),
          a.arrayIndex(offset),
          a.arrayIndex(offset + count));
      return;
    }
    A sum = borrowTile();
    A addend = borrowTile();
    for (long done = 0; done < count; done += tileElements) {
      int n = (int) Math.min(tileElements, count - done);
      source.toArray(sourceOffset + done, n, addend, 0);
      reduceTile(accumulator, offset + done, n, sum, addend);
    }
    giveBack(sum, addend);
  }

  @Override
  public void finish(
      HostTensor result,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int contributions) {
    KernelChecks.checkTensor("result", result, dtype, offset, count);
    KernelChecks.checkTensor("accumulator", accumulator, dtype, accumulatorOffset, count);
    KernelChecks.checkContributions(contributions);
    if (result != accumulator || offset != accumulatorOffset) {
      result.copyFrom(offset, accumulator, accumulatorOffset, count);
    }
    if (finishing != null) {
      scale(result, offset, count, finishing, contributions);
    }
  }

  private void reduceTile(HostTensor accumulator, long offset, int n, A sum, A addend) {
    accumulator.toArray(offset, n, sum, 0);
    reduction.reduce(sum, addend, 0, n * slots);
    accumulator.fromArray(offset, n, sum, 0);
  }

  private void scale(
      HostTensor tensor, long offset, long count, ArrayScaling<A> scaling, double operand) {
    if (tensor instanceof HeapTensor heap && arrayClass.isInstance(heap.array())) {
      scaling.scale(
          arrayClass.cast(heap.array()),
          heap.arrayIndex(offset),
          heap.arrayIndex(offset + count),
          operand);
      return;
    }
    A tile = borrowTile();
    for (long done = 0; done < count; done += tileElements) {
      int n = (int) Math.min(tileElements, count - done);
      tensor.toArray(offset + done, n, tile, 0);
      scaling.scale(tile, 0, n * slots, operand);
      tensor.fromArray(offset + done, n, tile, 0);
    }
    TilePool.giveBack(type, tile);
  }

  private A borrowTile() {
    return arrayClass.cast(TilePool.borrow(type));
  }

  private void giveBack(A first, A second) {
    TilePool.giveBack(type, first);
    TilePool.giveBack(type, second);
  }
}
