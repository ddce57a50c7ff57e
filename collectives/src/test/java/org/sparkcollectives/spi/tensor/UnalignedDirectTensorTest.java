package org.sparkcollectives.spi.tensor;

class UnalignedDirectTensorTest extends HostTensorContractTest {

  UnalignedDirectTensorTest() {
    super(TensorMemory.DIRECT_UNALIGNED);
  }
}
