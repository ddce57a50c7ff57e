package org.sparkcollectives;

/** Objects through AES-GCM. */
class AesGcmObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.aesGcm();
  }
}
