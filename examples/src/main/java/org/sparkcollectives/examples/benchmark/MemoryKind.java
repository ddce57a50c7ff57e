package org.sparkcollectives.examples.benchmark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** The memory of the tensors. */
enum MemoryKind {
  /** Java arrays. */
  HEAP {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      return Tensor.allocate(dtype, count);
    }
  },
  /** Direct buffers. */
  DIRECT {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      int bytes = Math.toIntExact(count * dtype.bytes());
      return Tensor.wrap(dtype, ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()));
    }
  },
  /** The memory of {@link ProcessGroup#allocate}. */
  GROUP {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      return group.allocate(dtype, count);
    }
  };

  /** Allocates a tensor of zeros. */
  abstract Tensor allocate(ProcessGroup group, DType dtype, long count);
}
