package org.sparkcollectives.gpu.cuda;

/**
 * The memory of a device as the driver counts it, for all processes.
 *
 * @param free bytes that are not allocated
 * @param total bytes in all
 */
public record MemoryInfo(long free, long total) {}
