package org.sparkcollectives.tensor;

class HeapBytesTensorTest extends HostTensorContractTest {

  HeapBytesTensorTest() {
    super(TensorMemory.HEAP_BYTES);
  }
}
