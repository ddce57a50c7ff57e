/** Collectives of objects, as streams of frames over a backend's tensors. */
package org.sparkcollectives.internal.object;
