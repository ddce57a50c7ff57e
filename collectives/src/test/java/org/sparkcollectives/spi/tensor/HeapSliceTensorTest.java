package org.sparkcollectives.spi.tensor;

class HeapSliceTensorTest extends HostTensorContractTest {

  HeapSliceTensorTest() {
    super(TensorMemory.HEAP_SLICE);
  }
}
