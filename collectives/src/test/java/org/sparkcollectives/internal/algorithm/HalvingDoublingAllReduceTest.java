package org.sparkcollectives.internal.algorithm;

/** Tests {@link HalvingDoublingAllReduce} by the contract of all-reduces. */
class HalvingDoublingAllReduceTest extends AllReduceContract {}
