/** Tensors in the memory of a JVM's process, as backends and transports read and write them. */
package org.sparkcollectives.spi.tensor;
