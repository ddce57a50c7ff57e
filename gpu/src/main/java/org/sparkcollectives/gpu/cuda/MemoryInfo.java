package org.sparkcollectives.gpu.cuda;

/**
 * The memory of a device as the driver counts it, for all processes.
 *
 * @param free bytes that nobody has
 * @param total bytes that there are
 */
public record MemoryInfo(long free, long total) {}
