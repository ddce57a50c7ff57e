package org.sparkcollectives.internal.algorithm;

/** Tests {@link FlatAllGather} by what each all-gather must do. */
class FlatAllGatherTest extends AllGatherContract.OfAnyParts {}
