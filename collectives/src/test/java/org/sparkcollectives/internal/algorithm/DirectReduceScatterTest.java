package org.sparkcollectives.internal.algorithm;

/** Tests {@link DirectReduceScatter} by the contract of reduce-scatters. */
class DirectReduceScatterTest extends ReduceScatterContract {}
