package org.sparkcollectives;

/** Operations at the same time through AES-GCM. */
class AesGcmOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.aesGcm();
  }
}
