package org.sparkcollectives;

/** The works of ranks that talk through AES-GCM. */
class AesGcmWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.aesGcm();
  }
}
