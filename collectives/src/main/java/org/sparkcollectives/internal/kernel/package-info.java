/** Reductions of elements, for each type and operator. */
package org.sparkcollectives.internal.kernel;
