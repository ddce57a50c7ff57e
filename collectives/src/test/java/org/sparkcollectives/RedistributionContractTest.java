package org.sparkcollectives;

/** Runs the contracts of operations that redistribute parts, and of several operations as one. */
abstract class RedistributionContractTest extends PathsUnderTest
    implements PartsContract,
        SparseReductionsContract,
        MonitoredBarrierContract,
        CoalescingContract,
        RefusalsContract {}
