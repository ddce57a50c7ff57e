/** Sums of floating-point numbers whose bits do not depend on the order of the additions. */
package org.sparkcollectives.reproducible;
