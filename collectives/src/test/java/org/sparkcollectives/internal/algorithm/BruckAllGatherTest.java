package org.sparkcollectives.internal.algorithm;

/** Tests {@link BruckAllGather} by the contract of all-gathers. */
class BruckAllGatherTest extends AllGatherContract.OfAnyParts {}
