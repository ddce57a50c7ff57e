package org.sparkcollectives.internal.algorithm;

/** Tests {@link BruckReduceScatter} by the contract of reduce-scatters. */
class BruckReduceScatterTest extends ReduceScatterContract {}
