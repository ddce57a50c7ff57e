package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link ChainBroadcast} by the contract of broadcasts. */
class ChainBroadcastTest extends BroadcastContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7})
  void sendsTheTensorOnceFromAllButItsEnd(int ranks) {
    int root = ranks - 1;
    int end = root - 1;
    long once = algorithm().cost(ranks, BYTES).messages();
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    requireSends(group, rank -> rank == end ? 0 : once, rank -> rank == end ? 0 : BYTES);
  }
}
