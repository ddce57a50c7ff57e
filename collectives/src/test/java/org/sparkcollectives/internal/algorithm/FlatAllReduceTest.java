package org.sparkcollectives.internal.algorithm;

/** Tests {@link FlatAllReduce} by the contract of all-reduces. */
class FlatAllReduceTest extends AllReduceContract {}
