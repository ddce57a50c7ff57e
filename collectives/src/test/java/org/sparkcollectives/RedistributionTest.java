package org.sparkcollectives;

/** Runs the contracts of operations that redistribute parts, and of several operations as one. */
class RedistributionTest extends PathsUnderTest
    implements PartsContract,
        SparseReductionsContract,
        MonitoredBarrierContract,
        CoalescingContract,
        RefusalsContract {}
