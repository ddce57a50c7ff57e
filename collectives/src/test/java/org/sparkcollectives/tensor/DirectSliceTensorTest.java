package org.sparkcollectives.tensor;

class DirectSliceTensorTest extends HostTensorContractTest {

  DirectSliceTensorTest() {
    super(TensorMemory.DIRECT_SLICE);
  }
}
