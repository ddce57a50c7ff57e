package org.sparkcollectives.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.provider.Arguments;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorMemory;

class ReduceKernelPropertiesTest {

  @Provide
  Arbitrary<ReduceKernel> kernels() {
    List<ReduceKernel> kernels =
        ReduceKernelTest.reductions()
            .map(Arguments::get)
            .map(reduction -> ReduceKernels.of((ReduceOp) reduction[1], (DType) reduction[0]))
            .toList();
    return Arbitraries.of(kernels);
  }

  @Property(tries = 300)
  void aMessageMayArriveInAnyPiecesAtAnyAddress(
      @ForAll("kernels") ReduceKernel kernel,
      @ForAll TensorMemory memory,
      @ForAll @Size(max = 8) List<@IntRange(max = 1500) Integer> pieces,
      @ForAll @IntRange(max = 15) int address,
      @ForAll long seed) {
    int count = pieces.stream().mapToInt(Integer::intValue).sum();
    Random random = new Random(seed);
    HostTensor whole = memory.allocate(kernel.accumulatorType(), count);
    HostTensor inPieces = memory.allocate(kernel.accumulatorType(), count);
    HostTensor first =
        memory.tensor(
            kernel.inputType(), ReferenceReduction.random(kernel.inputType(), count, random));
    kernel.load(whole, 0, first, 0, count);
    kernel.load(inPieces, 0, first, 0, count);

    ByteBuffer message = ReferenceReduction.random(kernel.inputType(), count, random);
    ByteBuffer staging = TensorMemory.direct(address + message.capacity());
    staging.put(address, message, 0, message.capacity()).position(address);
    kernel.accumulate(whole, 0, count, staging.duplicate().order(staging.order()));
    long done = 0;
    for (int piece : pieces) {
      kernel.accumulate(inPieces, done, piece, staging);
      done += piece;
    }

    DType dtype = kernel.accumulatorType();
    assertThat(staging.hasRemaining()).isFalse();
    assertThat(ReferenceReduction.canonical(dtype, TensorMemory.elements(inPieces)))
        .isEqualTo(ReferenceReduction.canonical(dtype, TensorMemory.elements(whole)));
  }

  @Property(tries = 300)
  void aTensorReducesAsItsMessageWould(
      @ForAll("kernels") ReduceKernel kernel,
      @ForAll TensorMemory accumulators,
      @ForAll TensorMemory sources,
      @ForAll @IntRange(max = 3000) int count,
      @ForAll @IntRange(max = 20) int offset,
      @ForAll @IntRange(max = 20) int sourceOffset,
      @ForAll long seed) {
    Random random = new Random(seed);
    DType dtype = kernel.accumulatorType();
    ByteBuffer values = ReferenceReduction.random(dtype, count + 20, random);
    HostTensor source =
        sources.tensor(
            kernel.inputType(), ReferenceReduction.random(kernel.inputType(), count + 20, random));
    ByteBuffer message = TensorMemory.direct(count * kernel.inputType().bytes());
    source.read(sourceOffset, count, message);

    HostTensor byMessage = accumulators.tensor(dtype, values);
    kernel.accumulate(byMessage, offset, count, message.flip());
    HostTensor byTensor = accumulators.tensor(dtype, values);
    kernel.accumulate(byTensor, offset, source, sourceOffset, count);

    assertThat(ReferenceReduction.canonical(dtype, TensorMemory.elements(byTensor)))
        .isEqualTo(ReferenceReduction.canonical(dtype, TensorMemory.elements(byMessage)));
  }
}
