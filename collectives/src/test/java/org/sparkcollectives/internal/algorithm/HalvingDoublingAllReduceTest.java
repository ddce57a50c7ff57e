package org.sparkcollectives.internal.algorithm;

/** Tests {@link HalvingDoublingAllReduce} by what each all-reduce must do. */
class HalvingDoublingAllReduceTest extends AllReduceContract {}
