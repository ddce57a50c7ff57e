package org.sparkcollectives.internal.algorithm;

/** Tests {@link FlatAllReduce} by what each all-reduce must do. */
class FlatAllReduceTest extends AllReduceContract {}
