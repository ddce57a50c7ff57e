package org.sparkcollectives.gpu.cuda;

/**
 * What the driver has given for one piece of memory.
 *
 * @param id the driver's, which no other allocation has
 * @param stream that it belongs to: what is put into that stream comes after all that used the
 *     block before
 */
record DeviceBlock(long address, long bytes, long id, StreamKey stream) {}
