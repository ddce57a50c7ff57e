package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of operations that redistribute parts, and of several operations as one. */
@MethodSource("org.sparkcollectives.testing.Paths#all")
class RedistributionTest extends PathsUnderTest
    implements PartsContract,
        SparseReductionsContract,
        MonitoredBarrierContract,
        CoalescingContract,
        CoalescedBroadcastContract,
        RefusalsContract {}
