package org.sparkcollectives.lightgbm;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * LightGBM's network over a group: LightGBM calls back for its two collectives, on the thread that
 * made this. All of LightGBM's network belongs to that thread, so that ranks may be threads of one
 * process.
 *
 * <p>A callback can neither throw nor return an error, because native frames lie below it. When a
 * collective fails, the failure is kept, this and all later calls give LightGBM zeros, and {@link
 * #check} throws it after the call into LightGBM has returned.
 */
final class GroupNetwork implements AutoCloseable {

  private static final ByteBuffer NOTHING =
      ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());

  private final LightGbmLibrary library;
  private final ProcessGroup group;

  // Fields, because LightGBM holds nothing but their addresses.
  private final LightGbmFunctions.ReduceScatter reduceScatter = this::reduceScatter;
  private final LightGbmFunctions.AllGather allGather = this::allGather;

  private final Map<Pointer, Function> reducers = new HashMap<>();

  /** The blocks that the ranks send here, and this rank's own block of an all-gather. */
  private Memory scratch = new Memory(1 << 16);

  private Throwable failure;

  /** Connects this thread's LightGBM with {@code group}, which {@link #close} ends. */
  GroupNetwork(LightGbmLibrary library, ProcessGroup group) {
    this.library = library;
    this.group = group;
    if (group.size() > 1) {
      library.check(
          library
              .functions()
              .LGBM_NetworkInitWithFunctions(group.size(), group.rank(), reduceScatter, allGather));
    }
  }

  /**
   * Throws what a callback has met since this was made.
   *
   * @throws LightGbmException caused by the first failure of a collective
   */
  void check() {
    if (failure != null) {
      throw new LightGbmException(
          "Rank " + group.rank() + ": a collective of LightGBM failed: " + failure.getMessage(),
          failure);
    }
  }

  private void reduceScatter(
      Pointer input,
      int inputSize,
      int typeSize,
      Pointer start,
      Pointer length,
      int blocks,
      Pointer output,
      int outputSize,
      Pointer reducer) {
    int count = length.getInt(4L * group.rank());
    attempt(
        () -> {
          Pointer parts = scratch((long) count * blocks);
          List<Tensor> received = new ArrayList<>(blocks);
          for (int i = 0; i < blocks; i++) {
            received.add(tensor(parts, (long) count * i, count));
          }
          group.allToAll(received, blocks(input, start, length, blocks)).await();
          if (count > 0) {
            reduce(parts, blocks, typeSize, count, reducer(reducer));
            copy(parts, output, count);
          }
        },
        output,
        count);
  }

  /**
   * Reduces blocks into the first, in the order of LightGBM's recursive halving: so the sums have
   * the same bits as over its sockets where the number of ranks is a power of two.
   */
  private static void reduce(Pointer parts, int blocks, int typeSize, int count, Function reducer) {
    int power = Integer.highestOneBit(blocks);
    for (int i = power; i < blocks; i++) {
      reduceInto(parts, i - power, i, typeSize, count, reducer);
    }
    for (int distance = power / 2; distance > 0; distance /= 2) {
      for (int i = 0; i < distance; i++) {
        reduceInto(parts, i, i + distance, typeSize, count, reducer);
      }
    }
  }

  private static void reduceInto(
      Pointer parts, int into, int from, int typeSize, int count, Function reducer) {
    reducer.invokeVoid(
        new Object[] {
          parts.share((long) count * from), parts.share((long) count * into), typeSize, count
        });
  }

  private Function reducer(Pointer reference) {
    return reducers.computeIfAbsent(reference.getPointer(0), Function::getFunction);
  }

  private void allGather(
      Pointer input,
      int inputSize,
      Pointer start,
      Pointer length,
      int blocks,
      Pointer output,
      int outputSize) {
    attempt(
        () -> {
          // LightGBM's all-reduce passes one buffer as input and output.
          Pointer own = scratch(inputSize);
          copy(input, own, inputSize);
          group.allGather(blocks(output, start, length, blocks), tensor(own, 0, inputSize)).await();
        },
        output,
        outputSize);
  }

  private void attempt(Runnable collective, Pointer output, int outputSize) {
    if (failure == null) {
      try {
        collective.run();
        return;
      } catch (Throwable e) { // Nothing may be thrown into native frames; check() throws it.
        failure = e;
      }
    }
    if (outputSize > 0) {
      output.clear(outputSize);
    }
  }

  private static List<Tensor> blocks(Pointer at, Pointer start, Pointer length, int blocks) {
    List<Tensor> tensors = new ArrayList<>(blocks);
    for (int i = 0; i < blocks; i++) {
      tensors.add(tensor(at, start.getInt(4L * i), length.getInt(4L * i)));
    }
    return tensors;
  }

  private static Tensor tensor(Pointer at, long offset, int count) {
    ByteBuffer bytes = count == 0 ? NOTHING : at.getByteBuffer(offset, count);
    return Tensor.wrap(DType.INT8, bytes.order(ByteOrder.nativeOrder()));
  }

  private static void copy(Pointer from, Pointer to, int count) {
    if (count > 0) {
      to.getByteBuffer(0, count).put(from.getByteBuffer(0, count));
    }
  }

  private Pointer scratch(long bytes) {
    if (bytes > scratch.size()) {
      scratch.close();
      scratch = new Memory(Math.max(bytes, 2 * scratch.size()));
    }
    return scratch;
  }

  /** Ends the network; the next user of the thread would otherwise call into this object. */
  @Override
  public void close() {
    library.functions().LGBM_NetworkFree();
    scratch.close();
  }
}
