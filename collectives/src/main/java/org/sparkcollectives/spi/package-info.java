/**
 * What implementers of a backend, of an environment that runs ranks, or of a module on top of
 * groups need; users of groups need nothing of it. It may change between minor versions.
 */
package org.sparkcollectives.spi;
