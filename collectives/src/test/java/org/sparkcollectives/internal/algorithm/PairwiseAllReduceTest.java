package org.sparkcollectives.internal.algorithm;

/** Tests {@link PairwiseAllReduce} by the contract of all-reduces. */
class PairwiseAllReduceTest extends AllReduceContract {}
