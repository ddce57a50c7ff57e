/**
 * Arithmetic on a GPU: reductions, conversions and the search for NaN, as kernels that are compiled
 * when the library is built and are part of its jar.
 */
package org.sparkcollectives.gpu.kernel;
