package org.sparkcollectives.internal.algorithm;

/** Tests {@link RecursiveDoublingAllReduce} by the contract of all-reduces. */
class RecursiveDoublingAllReduceTest extends AllReduceContract {}
