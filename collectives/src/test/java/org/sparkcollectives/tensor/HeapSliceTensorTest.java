package org.sparkcollectives.tensor;

class HeapSliceTensorTest extends HostTensorContractTest {

  HeapSliceTensorTest() {
    super(TensorMemory.HEAP_SLICE);
  }
}
