package org.sparkcollectives.spi.tensor;

class HeapBytesTensorTest extends HostTensorContractTest {

  HeapBytesTensorTest() {
    super(TensorMemory.HEAP_BYTES);
  }
}
