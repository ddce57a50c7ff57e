package org.sparkcollectives.internal.algorithm;

/** Tests {@link BruckReduceScatter} by what each reduce-scatter must do. */
class BruckReduceScatterTest extends ReduceScatterContract {}
