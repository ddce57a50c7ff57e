package org.sparkcollectives.gpu.cuda;

/**
 * A block of memory from the driver.
 *
 * @param id the driver's, which no other allocation has
 * @param stream the stream that it belongs to: work in that stream comes after all earlier uses of
 *     the block
 */
record DeviceBlock(long address, long bytes, long id, StreamKey stream) {}
