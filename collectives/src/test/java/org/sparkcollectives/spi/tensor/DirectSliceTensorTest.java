package org.sparkcollectives.spi.tensor;

class DirectSliceTensorTest extends HostTensorContractTest {

  DirectSliceTensorTest() {
    super(TensorMemory.DIRECT_SLICE);
  }
}
