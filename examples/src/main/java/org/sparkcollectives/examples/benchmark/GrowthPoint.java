package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;

/**
 * What an operation costs on a number of ranks.
 *
 * @param operation its label
 * @param ranks the number of ranks
 * @param processes the JVMs in which they ran
 * @param hosts the hosts on which they ran
 * @param iterations how often it was measured
 * @param medianMicros the median time; each time is that of the slowest rank
 * @param cpuMicros the processor time of all JVMs, compilation and garbage collection included, for
 *     each rank and operation
 * @param connections the group's open ends of connections, for each rank
 * @param directBytes what Netty holds of the JVMs' direct memory then, for each rank of the group:
 *     the bytes in use with Netty 4.1, with 4.2 the chunks that it has allocated
 * @param wrongElements of a result, on all ranks
 */
record GrowthPoint(
    String operation,
    int ranks,
    int processes,
    int hosts,
    int iterations,
    double medianMicros,
    double cpuMicros,
    double connections,
    double directBytes,
    long wrongElements)
    implements Serializable {}
