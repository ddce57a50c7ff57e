package org.sparkcollectives.internal.algorithm;

/** Tests {@link BruckAllGather} by what each all-gather must do. */
class BruckAllGatherTest extends AllGatherContract {}
