package org.sparkcollectives.examples.benchmark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Where the tensors lie. */
enum MemoryKind {
  /** In Java arrays. */
  HEAP {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      return Tensor.allocate(dtype, count);
    }
  },
  /** In direct buffers. */
  DIRECT {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      int bytes = Math.toIntExact(count * dtype.bytes());
      return Tensor.wrap(dtype, ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()));
    }
  },
  /** Where {@link ProcessGroup#allocate} puts them. */
  GROUP {
    @Override
    Tensor allocate(ProcessGroup group, DType dtype, long count) {
      return group.allocate(dtype, count);
    }
  };

  /** A tensor of zeros. */
  abstract Tensor allocate(ProcessGroup group, DType dtype, long count);
}
