package org.sparkcollectives.gpu.cuda;

import java.nio.ByteBuffer;

/**
 * Host memory that the driver has pinned.
 *
 * @param address its address
 * @param buffer the same memory as a direct buffer in native byte order, a view of no other buffer;
 *     not to be used once it is freed
 */
public record HostMemory(long address, ByteBuffer buffer) {}
