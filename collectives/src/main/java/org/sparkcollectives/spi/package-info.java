/**
 * Interfaces for implementers of a backend; users of groups need nothing of them. They may change
 * between minor versions.
 */
package org.sparkcollectives.spi;
