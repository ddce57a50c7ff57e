/**
 * The interfaces that an implementer of a backend uses; users of groups need nothing of it. What is
 * here may change between minor versions.
 */
package org.sparkcollectives.spi;
