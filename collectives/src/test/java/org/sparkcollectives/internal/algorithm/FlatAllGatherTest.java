package org.sparkcollectives.internal.algorithm;

/** Tests {@link FlatAllGather} by the contract of all-gathers. */
class FlatAllGatherTest extends AllGatherContract.OfAnyParts {}
