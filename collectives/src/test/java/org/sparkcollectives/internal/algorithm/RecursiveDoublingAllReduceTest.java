package org.sparkcollectives.internal.algorithm;

/** Tests {@link RecursiveDoublingAllReduce} by what each all-reduce must do. */
class RecursiveDoublingAllReduceTest extends AllReduceContract {}
