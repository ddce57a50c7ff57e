package org.sparkcollectives.tensor;

class UnalignedDirectTensorTest extends HostTensorContractTest {

  UnalignedDirectTensorTest() {
    super(TensorMemory.DIRECT_UNALIGNED);
  }
}
