package org.sparkcollectives.internal.algorithm;

/** Tests {@link DirectReduceScatter} by what each reduce-scatter must do. */
class DirectReduceScatterTest extends ReduceScatterContract {}
